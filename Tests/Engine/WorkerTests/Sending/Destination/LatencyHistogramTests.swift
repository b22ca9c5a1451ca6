import Model
import Testing

@testable import Worker

@Suite struct LatencyHistogramTests {
  @Test(
    "an answer time falls into the first bucket that is not below it",
    arguments: [
      (0, 1), (999, 1), (1_000, 1), (2_000, 2), (3_000, 5), (10_000, 10), (60_000, 100),
      (9_999_000, 10_000), (10_001_000, 60_000), (600_000_000, 60_000),
    ] as [(UInt64, UInt64)])
  func findsBucket(elapsedUs: UInt64, boundMs: UInt64) {
    let histogram = LatencyHistogram()
    histogram.add(.fcm, elapsedNs: elapsedUs * 1_000)
    let taken = histogram.takeAll()
    #expect(taken.map(\.boundMs) == [boundMs])
    #expect(taken.map(\.network) == [.fcm])
    #expect(taken.map(\.count) == [1])
  }

  @Test("what was taken is not counted again, and networks are apart")
  func takesOnce() {
    let histogram = LatencyHistogram()
    for network in Network.allCases {
      for _ in 0..<3 { histogram.add(network, elapsedNs: 30_000_000) }
    }
    #expect(histogram.takeAll().map(\.count) == [3, 3, 3])
    #expect(histogram.takeAll().isEmpty)
  }
}
