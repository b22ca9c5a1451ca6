import Configuration
import Testing

@Suite struct JobsConfigurationTests {
  @Test("records are kept for 7 days, or for as many hours as the configuration says")
  func retention() throws {
    #expect(try ConfigurationTests.parse("").jobs.retentionHours == 168)
    #expect(try ConfigurationTests.parse("jobs: {retention_hours: 720}").jobs.retentionHours == 720)
    let environment = ["PUSHPOOL_JOBS_RETENTION_HOURS": "1"]
    #expect(try ConfigurationTests.parse("", environment).jobs.retentionHours == 1)
  }

  @Test(
    "a retention out of range is refused with what to do",
    arguments: [
      ("jobs: {retention_hours: 0}", "jobs.retention_hours: must not be 0: a job that is enqueued"),
      (
        "jobs: {retention_hours: 721}", "jobs.retention_hours: must be a whole number from 1 to 720"
      ),
      ("jobs: {retention_days: 7}", "retention_days: is not a known field"),
    ])
  func refused(yaml: String, expected: String) {
    let complaint = ConfigurationTests.complaint(yaml)
    #expect(complaint.contains(expected), "\(complaint)")
  }
}
