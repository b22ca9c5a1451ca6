import Testing

@testable import Worker

@Suite struct OldSilenceTests {
  private static let msNs: UInt64 = 1_000_000
  private static let streams = 1_000

  @Test("the time of all that was sent before a good answer may run out at once: it stays closed")
  func passesOverOldSilence() {
    var health = NetworkHealth(breaker: Breaker())
    let (sentNs, nowNs) = (1_000 * Self.msNs, 5_000 * Self.msNs)
    // The network was silent for three seconds, and is well again.
    _ = health.noteGood(nowNs: nowNs - 500 * Self.msNs, elapsedNs: 10 * Self.msNs)
    Self.runOut(Self.streams, sentNs: sentNs, nowNs: nowNs, in: &health)
    #expect(health.breaker.state == .closed)
    // What was sent since tells of another outage as soon as ever.
    Self.runOut(
      BreakerLimits.troublesMin, sentNs: nowNs - 499 * Self.msNs, nowNs: nowNs + 3_501 * Self.msNs,
      in: &health)
    #expect(health.breaker.state == .open && health.troubleReason == "no answer")
  }

  @Test("twice as many as may be in flight open it, however old they are, if hardly any is good")
  func opensAmidSilence() {
    var health = NetworkHealth(breaker: Breaker())
    let (sentNs, nowNs) = (1_000 * Self.msNs, 5_000 * Self.msNs)
    _ = health.noteGood(nowNs: nowNs, elapsedNs: 10 * Self.msNs)
    Self.runOut(2 * Self.streams, sentNs: sentNs, nowNs: nowNs, in: &health)
    #expect(health.breaker.state == .open)
  }

  /// The time of so many requests runs out.
  private static func runOut(
    _ count: Int, sentNs: UInt64, nowNs: UInt64, in health: inout NetworkHealth
  ) {
    for _ in 0..<count {
      _ = health.noteTrouble(
        nowNs: nowNs, elapsedNs: nowNs - sentNs, retryAfterMs: nil, attempt: 0, streams: streams,
        reason: { "no answer" })
    }
  }
}
