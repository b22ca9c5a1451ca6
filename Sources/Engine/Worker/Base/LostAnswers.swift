internal import Redis

/// Whether Redis may have leased work to this lane by an answer that did not arrive, and is to be asked what it was.
struct LostAnswers {
  private var areLikely = false
  /// Whether Redis has ever answered: nothing was leased before.
  private var hasHeard = false
  /// Answers lost since one arrived.
  private var count = 0

  /// Not for ever: what ends each connection that it comes by is left to the end of its lease, which counts it as lost.
  var areToBeAskedFor: Bool { areLikely && count <= WorkerLimits.lostAnswersMax }

  /// Notes that a command failed which was to lease work, or to begin what was leased.
  /// - Parameter isCounted: whether it is one loss more, and not a part of another's.
  mutating func note(_ error: RedisError, isCounted: Bool = true) {
    switch error {
    case .connectionLost, .timeout, .protocolViolation:
      areLikely = true
      if isCounted { count += 1 }
    // What was leased just before may not have been begun.
    case .unavailable, .unsuitable, .tooManyPending: areLikely = areLikely || hasHeard
    // Likewise, since Redis refuses everybody: once it does not, what is leased need not wait for the end of its lease.
    case .server where error.isPassing: areLikely = areLikely || hasHeard
    // It was refused, or is beyond us: asking again at once would be answered the same.
    case .server, .unexpectedReply: return
    }
  }

  /// Redis has answered.
  mutating func forget() {
    areLikely = false
    count = 0
    hasHeard = true
  }
}
