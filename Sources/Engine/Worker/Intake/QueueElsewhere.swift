internal import Model
internal import Reactor
internal import Store

/// The jobs that a lane has for one other shard, leased to it until they are added there and ended here; loop-bound.
final class QueueElsewhere {
  let shard: ShardID
  /// Raised when there is a job.
  let signal: LoopSignal
  /// Whether the shard took the last jobs that were added there.
  private(set) var isOpen = false
  private var waiting: [JobElsewhere] = []
  private var current: [JobElsewhere] = []
  /// Of all of them.
  private var bytes = 0
  private var sources: Set<String> = []

  init(_ shard: ShardID, loop: EventLoop) {
    self.shard = shard
    signal = LoopSignal(loop: loop)
  }

  /// - Returns: false when there is no room for it.
  func add(_ job: JobElsewhere) -> Bool {
    let size = job.entry.text.count
    guard sources.count < WorkerLimits.jobsElsewhereMax,
      sources.isEmpty || bytes + size <= WorkerLimits.jobsElsewhereBytesMax
    else { return false }
    guard sources.insert(job.entry.source).inserted else { return true }
    waiting.append(job)
    bytes += size
    signal.raise()
    return true
  }

  /// The next ones, which are in hand until `settle`; none when there are no more.
  func next() -> [JobElsewhere] {
    var size = 0
    let batch = waiting.prefix(WorkerLimits.jobsElsewhereAtOnceMax).prefix { job in
      defer { size += job.entry.text.count }
      return size == 0
        || size + job.entry.text.count <= WorkerLimits.bytesElsewhereAtOnceMax
    }
    current = Array(batch)
    waiting.removeFirst(current.count)
    return current
  }

  /// Notes that the jobs of `next` are ended, but for some, which come first the next time.
  /// - Parameter isOpen: whether the shard took what was added there.
  func settle(kept: [JobElsewhere], isOpen: Bool) {
    let stay = Set(kept.map(\.entry.source)).intersection(sources)
    for job in current where !stay.contains(job.entry.source) { forget(job.entry) }
    waiting = kept.filter { stay.contains($0.entry.source) } + waiting
    current = []
    self.isOpen = isOpen
  }

  /// Takes out those that were held for too long, but for those that may be there already: what is there must not be begun
  /// here as another job.
  func removeOverdue(nowNs: UInt64) -> [JobElsewhere] {
    func isOverdue(_ job: JobElsewhere) -> Bool {
      job.standing == .waits
        && nowNs &- job.sinceNs >= WorkerLimits.heldElsewhereMs * 1_000_000
    }
    let overdue = waiting.filter(isOverdue)
    guard !overdue.isEmpty else { return [] }
    waiting.removeAll(where: isOverdue)
    for job in overdue { forget(job.entry) }
    return overdue
  }

  /// Leaves an entry to whom it was leased anew.
  func drop(_ entry: JobEntry) {
    guard sources.contains(entry.source) else { return }
    // What is under way ends as somebody else's.
    waiting.removeAll { $0.entry.source == entry.source }
    forget(entry)
  }

  private func forget(_ entry: JobEntry) {
    if sources.remove(entry.source) != nil { bytes -= entry.text.count }
  }

  func has(_ entry: JobEntry) -> Bool { !sources.isEmpty && sources.contains(entry.source) }

  /// All that is leased to this lane and is not ended.
  var inHand: [JobEntry] { (current + waiting).map(\.entry).filter(has) }
}
