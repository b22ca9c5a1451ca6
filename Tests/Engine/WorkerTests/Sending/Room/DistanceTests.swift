import Testing

@testable import Worker

@Suite struct DistanceTests {
  private static let tripNs: UInt64 = 20_000_000

  @Test("nothing is done ahead of a Redis nearby")
  func near() {
    var distance = Distance()
    for turn: UInt64 in 1...10 {
      let ahead = distance.pushesAhead(
        sent: Int(turn) * 1_000, roundTripNs: WorkerLimits.farNsMin - 1, nowNs: turn * Self.tripNs)
      #expect(ahead == 0)
    }
  }

  @Test("twice what left in a trip is had ready for the next one")
  func doubles() {
    var distance = Distance()
    func ahead(_ sent: Int, _ trips: UInt64) -> Int {
      distance.pushesAhead(sent: sent, roundTripNs: Self.tripNs, nowNs: trips * Self.tripNs)
    }
    #expect(ahead(0, 100) == 0)
    #expect(ahead(500, 101) == 1_000)
    // As much left in two trips: the better of the last two counts.
    #expect(ahead(1_000, 103) == 1_000)
    #expect(ahead(3_000, 104) == 4_000)
    #expect(ahead(1_000_000, 105) == WorkerLimits.aheadPushesMax)
  }

  @Test("after a pause nothing is known of what leaves")
  func pauses() {
    var distance = Distance()
    _ = distance.pushesAhead(sent: 0, roundTripNs: Self.tripNs, nowNs: 100 * Self.tripNs)
    let busy = distance.pushesAhead(sent: 500, roundTripNs: Self.tripNs, nowNs: 101 * Self.tripNs)
    let later = distance.pushesAhead(sent: 500, roundTripNs: Self.tripNs, nowNs: 200 * Self.tripNs)
    #expect(busy == 1_000 && later == 0)
  }
}
