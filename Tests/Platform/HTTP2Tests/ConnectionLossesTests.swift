import Testing

@testable import HTTP2

@Suite struct ConnectionLossesTests {
  @Test(
    "one loss is chance, two spread the requests over twice as many connections, more over four times"
  )
  func spreads() {
    var losses = ConnectionLosses()
    var spreads: [Int] = []
    for nowNs in 1...5 as ClosedRange<UInt64> {
      losses.note(unanswered: HTTP2Limits.lostRequestsMin, nowNs: nowNs)
      spreads.append(losses.spread(nowNs: nowNs))
    }
    #expect(spreads == [1, 2, 4, 4, 4])
  }

  @Test("a connection that took few requests with it is no loss")
  func ignoresFew() {
    var losses = ConnectionLosses()
    for _ in 0..<10 { losses.note(unanswered: HTTP2Limits.lostRequestsMin - 1, nowNs: 1) }
    #expect(losses.spread(nowNs: 1) == 1)
  }

  @Test("they are forgotten a minute after the last")
  func forgets() {
    var losses = ConnectionLosses()
    for nowNs in [0, 10] as [UInt64] {
      losses.note(unanswered: HTTP2Limits.lostRequestsMin, nowNs: nowNs)
    }
    #expect(losses.spread(nowNs: 9 + HTTP2Limits.lossesKnownNs) == 2)
    #expect(losses.spread(nowNs: 10 + HTTP2Limits.lossesKnownNs) == 1)
    losses.note(unanswered: 1_000, nowNs: 10 + HTTP2Limits.lossesKnownNs)
    #expect(losses.spread(nowNs: 10 + HTTP2Limits.lossesKnownNs) == 1)
  }
}
