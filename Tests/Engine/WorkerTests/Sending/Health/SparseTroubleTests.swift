import Testing

@testable import Worker

/// Outages that few requests meet with, and pushes that alone are never taken.
@Suite struct SparseTroubleTests {
  private static let msNs: UInt64 = 1_000_000
  private static let startNs: UInt64 = 1_000_000 * SparseTroubleTests.msNs

  @Test("it opens for few requests, too, when one push meets with trouble again and again")
  func opensForFew() {
    let breaker = HeldBreaker()
    var nowNs = Self.startNs
    func trouble(attempt: Int) -> Breaker.Consequence {
      breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil, attempt: attempt)
    }
    #expect(trouble(attempt: BreakerLimits.attemptMin - 1) == .counted)
    // While others get through it is the push's own affair.
    _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
    nowNs += BreakerLimits.quietNs - Self.msNs
    #expect(trouble(attempt: BreakerLimits.attemptMin) == .counted)
    nowNs += Self.msNs
    #expect(trouble(attempt: BreakerLimits.attemptMin) == .opened)
    // It is as well known after it was closed for want of pushes.
    nowNs += 120_000 * Self.msNs
    #expect(breaker.closeIfIdle(nowNs: nowNs))
    #expect(trouble(attempt: BreakerLimits.attemptMin) == .opened)
  }

  @Test("a push that never gets through ends where others do now and then")
  func endsPoison() {
    let breaker = HeldBreaker()
    var nowNs = Self.startNs
    var attempt = 1
    // A good answer each 10 s, the push after each half-minute, and so on a lane that was quiet or not.
    for second in 1...1_800 where attempt < 8 {
      nowNs += 1_000 * Self.msNs
      _ = breaker.closeIfIdle(nowNs: nowNs)
      if second % 10 == 0, breaker.allowance(nowNs: nowNs) > 0 {
        if breaker.state == .halfOpen { breaker.noteProbes(1, nowNs: nowNs) }
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
      }
      guard second % 17 == 0, breaker.allowance(nowNs: nowNs) > 0 else { continue }
      if breaker.state == .halfOpen { breaker.noteProbes(1, nowNs: nowNs) }
      let consequence = breaker.noteTrouble(
        nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil, attempt: attempt)
      if consequence == .counted { attempt += 1 }
    }
    #expect(attempt == 8)
  }

  @Test("one push that is told to stay away keeps no others away")
  func passesOverLoneRetryAfter() {
    let breaker = HeldBreaker()
    let nowNs = Self.startNs
    #expect(
      breaker.noteTrouble(
        nowNs: nowNs, elapsedNs: 0, retryAfterMs: 900_000, attempt: BreakerLimits.attemptMin)
        == .opened)
    #expect((breaker.openUntilNs - nowNs) / Self.msNs <= BreakerLimits.openMsMin * 5 / 4)
    // Probes that others got through beside are attempts of their push.
    let laterNs = breaker.openUntilNs
    breaker.noteProbes(breaker.allowance(nowNs: laterNs), nowNs: laterNs)
    #expect(
      breaker.noteTrouble(nowNs: laterNs, elapsedNs: 0, retryAfterMs: nil, attempt: 6) == .forgiven)
    _ = breaker.noteGood(nowNs: laterNs, elapsedNs: 0)
    #expect(
      breaker.noteTrouble(nowNs: laterNs, elapsedNs: 0, retryAfterMs: nil, attempt: 6) == .counted)
  }
}
