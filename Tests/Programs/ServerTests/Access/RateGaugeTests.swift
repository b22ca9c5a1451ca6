import Testing

@testable import Server

/// Token buckets: rates, bursts, and no more memory than there may be.
@Suite struct RateGaugeTests {
  private static let plan = RatePlan(name: "p", words: "too many", perSecond: 10, burst: 5)
  private static let slow = RatePlan(name: "s", words: "too many", perSecond: 0.25, burst: 1)

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

  @Test(
    "past the bound new callers share one bucket, and known ones keep theirs until they are idle")
  func bounded() {
    let gauge = RateGauge(callersMax: 3)
    for name in ["a", "b", "c"] { #expect(gauge.take(Self.slow, of: name, nowMs: 0) == nil) }
    #expect(gauge.take(Self.slow, of: "d", nowMs: 0) == nil)
    #expect(gauge.take(Self.slow, of: "e", nowMs: 0) != nil)
    #expect(gauge.take(Self.slow, of: "a", nowMs: 0) != nil)
    // All were idle for so long that their buckets are full.
    #expect(gauge.take(Self.slow, of: "f", nowMs: 60_000) == nil)
    #expect(gauge.take(Self.slow, of: "g", nowMs: 60_000) == nil)
  }
}
