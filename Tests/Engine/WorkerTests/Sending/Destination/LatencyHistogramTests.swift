import Model
import Reactor
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

  @Test("monitors are told of all times, whatever was taken of them")
  func tellsAll() throws {
    let histogram = LatencyHistogram()
    for ms: UInt64 in [1, 30, 90_000] { histogram.add(.apns, elapsedNs: ms * 1_000_000) }
    _ = histogram.takeAll()
    histogram.add(.apns, elapsedNs: 1_500_000)
    let all = histogram.all
    #expect(Set(all.keys) == [.apns])
    let times = try #require(all[.apns])
    #expect(times.boundsNs.count == LatencyHistogram.boundsMs.count - 1)
    #expect(times.counts.reduce(0, +) == 4 && times.counts.last == 1)
    #expect(times.counts[0] == 1 && times.counts[1] == 1)
    #expect(times.sumNs == 90_032_500_000)
    #expect(histogram.takeAll().map(\.boundMs) == [2])
  }
}
