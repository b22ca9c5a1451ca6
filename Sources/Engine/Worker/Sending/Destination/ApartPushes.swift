internal import HTTP2

/// Pushes of a destination that are tried by themselves, on a connection of their own and one at a time: what breaks it is known
/// then, and harms no other; loop-bound.
struct ApartPushes {
  /// Jobs whose pushes are tried apart.
  var quarantine = Quarantine()
  /// The pushes that wait for that.
  var queue = PushQueue()
  /// The transport that carries them; made when it is needed.
  var transport: (any Transport)?
  /// When the last of them was answered or the first queued, in the loop's time.
  private var movedNs: UInt64 = 0
  /// Counts connections, and good answers on them. What is refused in one trial says nothing new of a push that was refused in it
  /// before: nothing was good on that connection meanwhile.
  private(set) var trial = 0
  /// Requests that were called malformed in this trial.
  private var refusals = 0
  /// Whether something good was answered on the connection.
  private var isProven = false

  /// - Returns: false when as many wait as may.
  mutating func append(_ tag: UInt64, rank: Int, nowNs: UInt64) -> Bool {
    guard queue.count < WorkerLimits.apartPushesMax else { return false }
    if queue.count == 0 { movedNs = nowNs }
    queue.append(tag, rank: rank)
    return true
  }

  /// Notes that a push was answered, or will not be.
  mutating func noteMoved(nowNs: UInt64) { movedNs = nowNs }

  // MARK: The connection

  /// Whether the last that was heard of the connection is good.
  var isWell: Bool { isProven && refusals == 0 }

  /// Whether each that waits has been refused in this trial, or many were: another connection has to be tried.
  var isTrialOver: Bool { refusals >= min(max(1, queue.count), WorkerLimits.apartRefusalsMax) }

  /// Notes that another connection was opened.
  mutating func noteOpened() {
    isProven = false
    beginTrial()
  }

  /// Notes a good answer on the connection.
  mutating func noteGood() {
    isProven = true
    beginTrial()
  }

  /// Notes that a request on the connection was called malformed, which is still open.
  /// - Parameter isTrial: whether that ends the trial, since nobody can tell on which connection the next request goes.
  mutating func noteRefusal(isTrial: Bool) {
    refusals += 1
    if isTrial { trial &+= 1 }
  }

  private mutating func beginTrial() {
    trial &+= 1
    refusals = 0
  }

  // MARK: Waiting

  /// Whether none of them has moved for so long that they are put aside.
  func isStill(nowNs: UInt64) -> Bool {
    nowNs &- movedNs >= WorkerLimits.unreachableMs &* 1_000_000
  }

  /// The next one, to leave by itself where others leave together.
  mutating func nextDraft() -> BatchQueue.Draft? {
    for rank in 0..<PushQueue.ranks {
      if let tag = queue.popFirst(rank: rank) { return BatchQueue.Draft(tags: [tag], rank: rank) }
    }
    return nil
  }

  mutating func putBack(_ draft: BatchQueue.Draft) {
    for tag in draft.tags { queue.append(tag, rank: draft.rank) }
  }

  mutating func removeAll() -> [UInt64] {
    var tags: [UInt64] = []
    while let tag = queue.popFirst() { tags.append(tag) }
    return tags
  }
}
