/// Connections that broke with many requests under way: whether those were processed, nobody knows. While that happens again
/// and again, a pool has as many requests under way on more connections with fewer streams each, so that a break takes
/// fewer with it.
struct ConnectionLosses {
  /// How often connections broke, not long ago.
  private var losses = 0
  private var lastNs: UInt64 = 0

  /// Notes that a connection broke.
  /// - Parameter unanswered: the requests that were under way.
  mutating func note(unanswered: Int, nowNs: UInt64) {
    guard unanswered >= HTTP2Limits.lostRequestsMin else { return }
    if nowNs &- lastNs >= HTTP2Limits.lossesKnownNs { losses = 0 }
    losses = min(losses + 1, HTTP2Limits.lossesMax)
    lastNs = nowNs
  }

  /// Over how many times as many connections the requests are spread: 1, 2 or 4.
  func spread(nowNs: UInt64) -> Int {
    guard losses > 1, nowNs &- lastNs < HTTP2Limits.lossesKnownNs else { return 1 }
    return losses < HTTP2Limits.lossesMax ? 2 : 4
  }
}
