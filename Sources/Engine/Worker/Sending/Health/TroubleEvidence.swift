/// The trouble that speaks for a network taking nothing, or hardly anything, any more. Times are the loop's.
struct TroubleEvidence {
  /// When the latest good answer came; 0 for never.
  private(set) var goodNs: UInt64 = 0
  /// Trouble since then.
  private(set) var inRow = 0
  /// Trouble of requests that were sent after that answer, and when the first of it came.
  private var fresh = 0
  private var freshSinceNs: UInt64 = 0
  /// Trouble that no good answer has made up for.
  private var surplus = 0

  /// Notes a good answer.
  /// - Returns: whether there was trouble that it makes up for.
  mutating func noteGood(nowNs: UInt64) -> Bool {
    goodNs = nowNs
    guard surplus > 0 else { return false }
    surplus = max(0, surplus &- BreakerLimits.troublesPerGood)
    inRow = 0
    fresh = 0
    return true
  }

  /// Notes a good answer to a probe, which makes up for nothing yet.
  mutating func noteGoodProbe(nowNs: UInt64) { goodNs = nowNs }

  /// Weighs trouble.
  /// - Parameters:
  ///   - closedNs: when the breaker was closed last; 0 for never.
  ///   - streams: how many requests could be in flight.
  /// - Returns: whether it is known by now that nothing gets through, or hardly anything.
  mutating func weigh(
    nowNs: UInt64, elapsedNs: UInt64, closedNs: UInt64, streams: Int
  ) -> Bool {
    surplus &+= 1
    inRow &+= 1
    let sentNs = nowNs &- elapsedNs
    let wellNs = max(goodNs, closedNs)
    if sentNs >= wellNs {
      if fresh == 0 { freshSinceNs = nowNs }
      fresh &+= 1
      let wasGoodLately =
        wellNs > 0
        && nowNs &- wellNs < UInt64(BreakerLimits.bucketCount) * BreakerLimits.bucketNs
      if fresh >= (wasGoodLately ? BreakerLimits.troublesMin : BreakerLimits.firstTroublesMin),
        sentNs >= freshSinceNs || elapsedNs >= BreakerLimits.waitedNs
      {
        return true
      }
    }
    let enough = max(streams * BreakerLimits.surplusOfStreams, BreakerLimits.surplusMin)
    return surplus >= min(enough, BreakerLimits.surplusMax)
  }

  /// Whether nothing was good for so long that the trouble of one push may be an outage's.
  func isQuiet(nowNs: UInt64) -> Bool {
    goodNs == 0 || nowNs &- goodNs >= BreakerLimits.quietNs
  }

  /// Forgets the trouble.
  mutating func forgetTrouble() {
    inRow = 0
    fresh = 0
    surplus = 0
  }
}
