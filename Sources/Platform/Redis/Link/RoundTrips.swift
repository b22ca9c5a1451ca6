internal import Reactor

/// How long answers take. How far away a server is tells the least time that one took of late: a busy server lets most answers
/// wait, but not all.
struct RoundTrips {
  /// The times of all answers.
  private(set) var times = DurationHistogram(boundsUs: RedisLimits.answerBoundsUs)
  private var least = (current: UInt64.max, before: UInt64.max)
  private var sinceNs: UInt64 = 0

  /// 0 until there was an answer.
  var leastNs: UInt64 {
    let least = min(least.current, least.before)
    return least == .max ? 0 : least
  }

  /// An answer came so long after its question.
  mutating func note(_ ns: UInt64, nowNs: UInt64) {
    times.add(ns)
    if nowNs &- sinceNs >= RedisLimits.roundTripsNs {
      least = (.max, least.current)
      sinceNs = nowNs
    }
    least.current = min(least.current, ns)
  }
}
