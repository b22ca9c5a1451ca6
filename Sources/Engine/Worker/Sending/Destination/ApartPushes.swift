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

  /// - Returns: false when as many wait as may.
  mutating func append(_ tag: UInt64, rank: Int, nowNs: UInt64) -> Bool {
    guard queue.count < WorkerLimits.apartPushesMax else { return false }
    if queue.count == 0 { movedNs = nowNs }
    queue.append(tag, rank: rank)
    return true
  }

  /// Notes that a push was answered, or will not be.
  mutating func noteMoved(nowNs: UInt64) { movedNs = nowNs }

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
