/// The requests by which a half-open breaker tries whether some get through. Times are the loop's.
struct ProbeRound {
  /// The time at which a request must have been sent, or later, to say anything about now.
  private var epochNs: UInt64 = 0
  /// When the last of them was sent.
  private(set) var lastNs: UInt64 = 0
  private var underway = 0
  private var successes = 0
  /// Probes in a row that met with trouble.
  private var troubles = 0

  /// How many may be sent now.
  var allowance: Int { max(0, BreakerLimits.probesMax - underway) }

  /// Begins a round.
  mutating func begin(nowNs: UInt64) {
    epochNs = nowNs
    lastNs = nowNs
    underway = 0
    successes = 0
    troubles = 0
  }

  /// Whether a request that ended now was sent in this round.
  func isCurrent(nowNs: UInt64, elapsedNs: UInt64) -> Bool { nowNs &- elapsedNs >= epochNs }

  /// So many were sent.
  mutating func noteSent(_ count: Int, nowNs: UInt64) {
    underway += count
    lastNs = nowNs
  }

  /// Notes that a probe ended without a verdict.
  mutating func noteEnd() { underway = max(0, underway - 1) }

  /// Notes that a probe got through. - Returns: whether enough have.
  mutating func noteGood() -> Bool {
    noteEnd()
    successes += 1
    troubles = 0
    return successes >= BreakerLimits.successesMin
  }

  /// Notes that a probe met with trouble. - Returns: whether that is enough of it.
  mutating func noteTrouble() -> Bool {
    noteEnd()
    troubles += 1
    return troubles >= BreakerLimits.probeTroublesMax
  }
}
