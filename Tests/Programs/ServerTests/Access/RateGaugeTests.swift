import Testing

@testable import Server

/// Token buckets: rates, bursts, and no more memory than there may be.
@Suite struct RateGaugeTests {
  private static let plan = RatePlan(name: "p", words: "too many", perSecond: 10, burst: 5)
  private static let slow = RatePlan(name: "s", words: "too many", perSecond: 0.25, burst: 1)
  private static let open = RatePlan(
    name: "o", words: "too many", perSecond: 0.25, burst: 1, isShared: true)

  @Test("a burst is granted, then as many as the rate, and never more than the burst at once")
  func rate() {
    let gauge = RateGauge()
    for _ in 0..<5 { #expect(gauge.take(Self.plan, of: "a", nowMs: 1_000) == nil) }
    #expect(gauge.take(Self.plan, of: "a", nowMs: 1_000) == 1)
    #expect(gauge.take(Self.plan, of: "a", nowMs: 1_099) == 1)
    #expect(gauge.take(Self.plan, of: "a", nowMs: 1_100) == nil)
    #expect(gauge.take(Self.plan, of: "a", nowMs: 1_100) == 1)
    let granted = (0..<20).count { _ in gauge.take(Self.plan, of: "a", nowMs: 900_000) == nil }
    #expect(granted == 5)
  }

  @Test("callers and plans do not share a bucket, and a look takes nothing")
  func apart() {
    let gauge = RateGauge()
    #expect(gauge.take(Self.slow, of: "a", nowMs: 0) == nil)
    #expect(gauge.take(Self.slow, of: "a", nowMs: 0) == 4)
    #expect(gauge.take(Self.slow, of: "b", nowMs: 0) == nil)
    #expect(gauge.take(Self.plan, of: "a", nowMs: 0) == nil)
    #expect(gauge.look(Self.slow, of: "a", nowMs: 2_000) == 2)
    #expect(gauge.look(Self.slow, of: "a", nowMs: 4_000) == nil)
    #expect(gauge.look(Self.slow, of: "a", nowMs: 4_000) == nil)
    #expect(gauge.take(Self.slow, of: "a", nowMs: 4_000) == nil)
    #expect(gauge.take(Self.slow, of: "a", nowMs: 4_000) != nil)
  }

  @Test("a clock that steps back grants nothing")
  func stepsBack() {
    let gauge = RateGauge()
    for _ in 0..<5 { _ = gauge.take(Self.plan, of: "a", nowMs: 10_000) }
    #expect(gauge.take(Self.plan, of: "a", nowMs: 0) != nil)
    #expect(gauge.take(Self.plan, of: "a", nowMs: 10_000) != nil)
    #expect(gauge.take(Self.plan, of: "a", nowMs: 10_100) == nil)
  }

  @Test("past the bound verified callers are let in, and known ones keep their buckets")
  func verifiedOverflow() {
    let gauge = RateGauge(callersMax: 3)
    for name in ["a", "b", "c"] { #expect(gauge.take(Self.slow, of: name, nowMs: 0) == nil) }
    for _ in 0..<10 {
      for name in ["d", "e"] { #expect(gauge.take(Self.slow, of: name, nowMs: 0) == nil) }
    }
    #expect(gauge.take(Self.slow, of: "a", nowMs: 0) != nil)
  }

  @Test("past the bound those who have shown nothing share one bucket, and known ones keep theirs")
  func sharedOverflow() {
    let gauge = RateGauge(callersMax: 3)
    for name in ["a", "b", "c"] { #expect(gauge.take(Self.open, of: name, nowMs: 0) == nil) }
    #expect(gauge.look(Self.open, of: "d", nowMs: 0) == nil)
    #expect(gauge.take(Self.open, of: "d", nowMs: 0) == nil)
    #expect(gauge.look(Self.open, of: "e", nowMs: 0) == 4)
    #expect(gauge.take(Self.open, of: "e", nowMs: 0) == 4)
    #expect(gauge.take(Self.open, of: "a", nowMs: 0) != nil)
    // Another plan has a table of its own, and room in it.
    #expect(gauge.take(Self.slow, of: "e", nowMs: 0) == nil)
    #expect(gauge.take(Self.slow, of: "e", nowMs: 0) != nil)
  }

  @Test("a bucket makes room once it is full again, and no sooner")
  func room() {
    let gauge = RateGauge(callersMax: 2)
    #expect(gauge.take(Self.open, of: "a", nowMs: 0) == nil)
    #expect(gauge.take(Self.open, of: "b", nowMs: 1_000) == nil)
    // Both have buckets that are not full, so these two share one.
    #expect(gauge.take(Self.open, of: "c", nowMs: 1_000) == nil)
    #expect(gauge.take(Self.open, of: "d", nowMs: 3_999) != nil)
    #expect(gauge.take(Self.open, of: "a", nowMs: 3_999) != nil)
    // That of a is full again, and makes room.
    #expect(gauge.take(Self.open, of: "e", nowMs: 4_999) == nil)
    #expect(gauge.take(Self.open, of: "e", nowMs: 4_999) != nil)
    #expect(gauge.take(Self.open, of: "b", nowMs: 4_999) != nil)
  }

  @Test("a campaign to many phones holds none of them back, whatever others do meanwhile")
  func campaign() {
    let gauge = RateGauge(callersMax: 100)
    // Addresses of one network that show nothing.
    for number in 0..<1_000 { _ = gauge.take(.open, of: "address \(number)", nowMs: 0) }
    var refused = 0
    for number in 0..<10_000 {
      let name = "shop/u\(number)"
      for _ in 0..<2 where gauge.take(.device, of: name, nowMs: UInt64(number)) != nil {
        refused += 1
      }
    }
    #expect(refused == 0)
  }
}
