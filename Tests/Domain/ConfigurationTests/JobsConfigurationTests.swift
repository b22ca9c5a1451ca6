import Model
import PushpoolConfiguration
import Testing

@Suite struct JobsConfigurationTests {
  @Test("records are kept for 7 days, or for as many hours as the configuration says")
  func retention() throws {
    #expect(try ConfigurationTests.parse("").jobs.retentionHours == 168)
    #expect(try ConfigurationTests.parse("jobs: {retention_hours: 720}").jobs.retentionHours == 720)
    let environment = ["PUSHPOOL_JOBS_RETENTION_HOURS": "1"]
    #expect(try ConfigurationTests.parse("", environment).jobs.retentionHours == 1)
  }

  @Test("jobs to few are kept for a day with an id and an hour without, and never longer than all")
  func kinds() throws {
    let usual = try ConfigurationTests.parse("").jobs.retention
    #expect(usual.manySeconds == 604_800)
    #expect(usual.namedSeconds == 86_400 && usual.unnamedSeconds == 3_600)
    let short = try ConfigurationTests.parse("jobs: {retention_hours: 2}").jobs.retention
    #expect(short.manySeconds == 7_200 && short.namedSeconds == 7_200)
    let set = try ConfigurationTests.parse(
      "jobs: {retention_hours: 2, named_retention_hours: 48, unnamed_retention_minutes: 1}"
    ).jobs.retention
    #expect(set.namedSeconds == 172_800 && set.unnamedSeconds == 60)
  }

  @Test("an app may keep its jobs for as long as it likes, and what it leaves out is as for all")
  func ofApps() throws {
    let yaml = """
      jobs: {retention_hours: 48, unnamed_retention_minutes: 5}
      apps:
        - {id: shop, fcm: {service_account_file: a.json}}
        - {id: bank, fcm: {service_account_file: a.json}, jobs: {named_retention_hours: 720}}
      """
    let environment = ["PUSHPOOL_APPS_BANK_JOBS_RETENTION_HOURS": "24"]
    let configuration = try ConfigurationTests.parse(yaml, environment)
    #expect(configuration.app("shop")?.jobs == nil)
    let bank = try #require(configuration.app("bank")?.jobs?.retention)
    #expect(bank.manySeconds == 86_400 && bank.namedSeconds == 2_592_000)
    #expect(bank.unnamedSeconds == 300)
  }

  @Test(
    "a retention out of range is refused with what to do",
    arguments: [
      (
        "jobs: {retention_hours: 0}",
        "jobs.retention_hours: must not be 0: a job that is enqueued again would be sent again; the default is 168"
      ),
      (
        "jobs: {retention_hours: 721}", "jobs.retention_hours: must be a whole number from 1 to 720"
      ),
      (
        "jobs: {named_retention_hours: 0}",
        "jobs.named_retention_hours: must not be 0: a job that is enqueued again would be sent again; the default is 24"
      ),
      (
        "jobs: {unnamed_retention_minutes: 0}",
        "jobs.unnamed_retention_minutes: must not be 0: whoever waits for a job"
      ),
      ("jobs: {retention_days: 7}", "retention_days: is not a known field"),
    ])
  func refused(yaml: String, expected: String) {
    let complaint = ConfigurationTests.complaint(yaml)
    #expect(complaint.contains(expected), "\(complaint)")
  }
}
