/// How often and why a connection was lost of late, and so how long to wait before the next attempt; a value.
struct LossRecord {
  /// Why it was lost last.
  private(set) var reason = "not connected yet"
  /// Attempts in a row that came to nothing, or to a connection that did not live for long.
  private var failedAttempts = 0
  private var readySinceNs: UInt64 = 0

  /// The connection can be used.
  mutating func noteReady(nowNs: UInt64) { readySinceNs = nowNs }

  /// Notes that it was lost, or could not be made.
  /// - Parameter isFault: whether anything went wrong.
  mutating func note(_ error: RedisError, isFault: Bool, wasReady: Bool, nowNs: UInt64) {
    let livedMs = wasReady ? (nowNs &- readySinceNs) / 1_000_000 : 0
    failedAttempts = !isFault || livedMs >= RedisLimits.healthyMs ? 0 : failedAttempts + 1
    reason = error.description
  }

  /// Exponential with jitter, so that a fleet does not come back as one.
  func delayMs() -> UInt64 {
    let doublings = min(max(failedAttempts - 1, 0), 8)
    let ceiling = min(RedisLimits.reconnectMsMax, RedisLimits.reconnectMsMin << UInt64(doublings))
    return .random(in: (ceiling / 2)...ceiling)
  }
}
