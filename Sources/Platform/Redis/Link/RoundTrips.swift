/// How far away a server is: the least time that an answer took of late. A busy server lets most answers wait, but not all.
struct RoundTrips {
  private var least = (current: UInt64.max, before: UInt64.max)
  private var sinceNs: UInt64 = 0

  /// 0 until there was an answer.
  var leastNs: UInt64 {
    let least = min(least.current, least.before)
    return least == .max ? 0 : least
  }

  /// An answer came so long after its question.
  mutating func note(_ ns: UInt64, nowNs: UInt64) {
    if nowNs &- sinceNs >= RedisLimits.roundTripsNs {
      least = (.max, least.current)
      sinceNs = nowNs
    }
    least.current = min(least.current, ns)
  }
}
