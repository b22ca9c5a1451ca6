/// Decisions about a run's pushes that are not among its news yet: their recipients wait for other devices, or are to be told
/// with others; loop-bound.
struct HeldDecisions {
  var details = DecisionDetails()
  /// Recipients with doubtful verdicts alone: they are done when all others are.
  var doubtful = DoubtfulRecipients()
  /// Recipients all of whose pushes are tried later: told together, they come back as one chunk.
  var postponed = PostponedRecipients()
  /// Recipients that are done and have dead tokens, when the next settlement has as many of these as it may.
  private var overfull: [Int] = []
  /// Decisions about pushes of recipients that have open ones, too, and when the first of them was made, in the
  /// loop's time.
  private(set) var partial = 0
  private var partialSinceNs: UInt64 = 0

  /// Recipients without an open push.
  var recipients: Int { doubtful.count + postponed.count + overfull.count }

  mutating func add() { partial += 1 }

  /// The recipient of the decision that was added has other pushes, which are open.
  mutating func noteOpen(nowNs: @autoclosure () -> UInt64) {
    if partial == 1 { partialSinceNs = nowNs() }
  }

  /// So many decisions wait for no other push any more.
  mutating func release(_ decisions: Int) { partial -= decisions }

  /// Whether decisions have waited long enough for those about the same users' other devices.
  /// - Parameter isActive: whether their run goes on.
  func isOver(isActive: Bool, nowNs: @autoclosure () -> UInt64) -> Bool {
    guard partial > 0 else { return false }
    return !isActive || partial >= WorkerLimits.checkpointResults / 2
      || nowNs() &- partialSinceNs >= WorkerLimits.checkpointMs / 2 * 1_000_000
  }

  /// Keeps a recipient for the next settlement.
  mutating func holdBack(_ recipient: Int) { overfull.append(recipient) }

  /// Takes out those that this settlement had no room for.
  mutating func takeHeldBack() -> [Int] {
    guard !overfull.isEmpty else { return [] }
    defer { overfull = [] }
    return overfull
  }
}
