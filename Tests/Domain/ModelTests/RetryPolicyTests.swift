import Model
import Testing

@Suite struct RetryPolicyTests {
  let policy = RetryPolicy(attemptsMax: 5, baseMs: 1_000, capMs: 10_000)

  @Test("the window doubles from the base up to the cap, for any attempt")
  func window() {
    #expect(
      [1, 2, 3, 4, 5, 60, 63, 64, 65, 1_000, .max].map(policy.windowMs)
        == [1_000, 2_000, 4_000, 8_000] + Array(repeating: 10_000, count: 7))
    #expect(policy.windowMs(attempt: 0) == 1_000)
    #expect(RetryPolicy(baseMs: .max, capMs: .max).windowMs(attempt: 40) == .max)
  }

  @Test("the delay is drawn from the whole window")
  func fullJitter() {
    #expect(policy.delayMs(attempt: 2, retryAfterMs: nil, random: 0) == 0)
    #expect(policy.delayMs(attempt: 2, retryAfterMs: nil, random: .max) == 2_000)
    #expect(policy.delayMs(attempt: 2, retryAfterMs: nil, random: .max / 2) == 1_000)
  }

  @Test("Retry-After is a floor, and those who were told the same do not all come at once")
  func retryAfter() {
    #expect(policy.delayMs(attempt: 1, retryAfterMs: 60_000, random: 0) == 60_000)
    #expect(policy.delayMs(attempt: 1, retryAfterMs: 60_000, random: .max) == 61_000)
    #expect(
      policy.delayMs(attempt: 1, retryAfterMs: .max, random: 0) == Limits.retryAfterMsMax)
  }

  private func decide(
    _ attempt: Int, after: UInt64? = nil, expires: Int64? = nil, random: UInt64 = .max
  ) -> RetryPolicy.Decision {
    policy.decide(
      attempt: attempt, retryAfterMs: after, nowMs: 100_000, expiresAtMs: expires, random: random)
  }

  @Test("after the last attempt it is given up, whatever the expiry")
  func giveUp() {
    #expect(decide(4) == .retry(afterMs: 8_000))
    #expect(decide(5) == .giveUp)
    #expect(decide(6) == .giveUp)
    #expect(decide(5, expires: 1) == .giveUp)
  }

  @Test("no retry is set at or past the expiry")
  func expiry() {
    #expect(decide(1, expires: 100_000) == .expired)
    #expect(decide(1, expires: 99_999) == .expired)
    #expect(decide(1, expires: -5) == .expired)
    #expect(decide(1, expires: 100_001) == .retry(afterMs: 0))
    #expect(decide(4, expires: 103_000) == .retry(afterMs: 2_999))
    #expect(decide(1, after: 3_000, expires: 103_000) == .expired)
    #expect(decide(1, after: 2_999, expires: 103_000) == .retry(afterMs: 2_999))
    #expect(decide(1, after: 2_000, expires: 500_000, random: 0) == .retry(afterMs: 2_000))
  }
}
