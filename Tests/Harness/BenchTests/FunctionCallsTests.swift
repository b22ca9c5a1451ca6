import Bench
import Testing

@Suite struct FunctionCallsTests {
  @Test("the share of function calls is read from INFO")
  func percentiles() {
    let info = """
      # Latencystats\r
      latency_percentiles_usec_mget:p50=100.000,p99=200.000,p99.9=300.000\r
      latency_percentiles_usec_fcall:p50=1003.519,p99=2007.039,p99.9=4014.079\r
      """
    let calls = FunctionCalls(info: info, longestMs: 4.5)
    #expect(calls?.p50Ms == 1.003519 && calls?.p99Ms == 2.007039 && calls?.longestMs == 4.5)
  }

  @Test("the longest call is the median of the runs' longest, and what is noted where none was")
  func longest() throws {
    let info = "latency_percentiles_usec_fcall:p50=1.0,p99=2.0"
    let runs = try [9.5, nil, 3.0].map {
      try #require(FunctionCalls(info: info, longestMs: $0))
    }
    #expect(FunctionCalls.longestMs(runs) == 3)
    #expect(FunctionCalls.longestMs(Array(runs[1...1])) == 2)
    #expect(FunctionCalls.longestMs([]) == nil)
  }

  @Test("without a function call there is no figure", arguments: ["", "# Latencystats\r\n"])
  func none(info: String) {
    #expect(FunctionCalls(info: info, longestMs: nil) == nil)
  }
}
