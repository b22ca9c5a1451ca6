import Bench
import Testing

@Suite struct H2LoadReportTests {
  @Test("the rate and the counts are read from what h2load prints")
  func report() {
    let report = H2LoadReport(
      """
      starting benchmark...
      progress: 100% done

      finished in 2.31s, 129870.13 req/s, 3.10MB/s
      requests: 300000 total, 300000 started, 300000 done, 299998 succeeded, 2 failed, 0 errored, 0 timeout
      status codes: 299998 2xx, 0 3xx, 2 4xx, 0 5xx
      """)
    #expect(report?.requestsPerSecond == 129_870.13)
    #expect(report?.succeeded == 299_998)
    #expect(report?.failed == 2)
  }

  @Test("other text is no report", arguments: ["", "requests: none", "finished in a hurry"])
  func other(text: String) {
    #expect(H2LoadReport(text) == nil)
  }
}
