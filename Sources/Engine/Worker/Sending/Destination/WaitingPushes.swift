internal import Reactor

/// The pushes of a destination that wait to be submitted, but for those that are tried apart; loop-bound.
struct WaitingPushes {
  private var queue = PushQueue()
  /// The queue instead of `queue` where the network takes several pushes a request; nil where it takes one.
  let batches: BatchQueue?
  /// Rings when pushes have waited long enough for others; nil where none do.
  var batchTimer: LoopTimer?
  /// Whether the lane lists the destination among those where pushes wait.
  var isListed = false

  init(pushesPerRequest: Int) {
    batches = pushesPerRequest > 1 ? BatchQueue(pushesMax: pushesPerRequest) : nil
  }

  var count: Int { batches?.count ?? queue.count }
  func count(upTo rank: Int) -> Int { batches?.count(upTo: rank) ?? queue.count(upTo: rank) }

  /// The pushes that keep the lane from resolving more of a priority: beyond what fills the next requests.
  func crowd(upTo rank: Int) -> Int {
    guard let batches else { return queue.count(upTo: rank) }
    return max(0, batches.count(upTo: rank) - WorkerLimits.batchesFilledMax * batches.pushesMax)
  }

  // MARK: Pushes that leave one a request

  /// How many of them there are.
  var single: Int { queue.count }
  func single(rank: Int) -> Int { queue.count(rank: rank) }

  mutating func append(_ tag: UInt64, rank: Int) { queue.append(tag, rank: rank) }
  mutating func popFirst() -> UInt64? { queue.popFirst() }
  mutating func popFirst(rank: Int) -> UInt64? { queue.popFirst(rank: rank) }

  /// Takes all out, high priority first.
  mutating func removeAll() -> [UInt64] {
    var tags = batches?.removeAll() ?? []
    while let tag = queue.popFirst() { tags.append(tag) }
    batchTimer?.cancel()
    return tags
  }
}
