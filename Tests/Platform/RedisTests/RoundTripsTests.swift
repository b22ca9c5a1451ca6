import Reactor
import Testing

@testable import Redis

@Suite struct RoundTripsTests {
  private static let secondNs: UInt64 = 1_000_000_000

  @Test("a server is as far away as its quickest answer of late")
  func least() {
    var trips = RoundTrips()
    #expect(trips.leastNs == 0)
    for ns: UInt64 in [3_000_000, 2_000_000, 9_000_000] { trips.note(ns, nowNs: Self.secondNs) }
    #expect(trips.leastNs == 2_000_000)
  }

  @Test("what was quicker before is forgotten when the server has moved away")
  func forgets() {
    var trips = RoundTrips()
    trips.note(100_000, nowNs: Self.secondNs)
    trips.note(20_000_000, nowNs: Self.secondNs + RedisLimits.roundTripsNs)
    #expect(trips.leastNs == 100_000)
    trips.note(21_000_000, nowNs: Self.secondNs + 2 * RedisLimits.roundTripsNs)
    #expect(trips.leastNs == 20_000_000)
  }

  @Test("monitors are told of all answers")
  func times() {
    var trips = RoundTrips()
    for ns: UInt64 in [90_000, 2_000_000, 9_000_000_000] { trips.note(ns, nowNs: Self.secondNs) }
    #expect(trips.times.counts.first == 1 && trips.times.counts.last == 1)
    #expect(trips.times.counts.reduce(0, +) == 3 && trips.times.sumNs == 9_002_090_000)
  }
}
