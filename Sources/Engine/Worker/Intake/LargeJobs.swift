internal import Reactor
internal import Store

/// Jobs whose admission takes many trips to Redis: one is taken in at a time, while others pass. When as many wait as memory is
/// meant for, the lane leaves streams with large ones alone. Loop-bound.
final class LargeJobs {
  /// Leased to this lane, which has to renew that.
  private(set) var waiting: [JobEntry] = []
  /// The one that is being taken in.
  private var current: JobEntry?
  /// Whether the one that is being taken in should be left to others.
  private(set) var isAbandoned = false
  private var isClosed = false
  private let added: LoopSignal
  private let taken: LoopSignal
  /// Raised when more of them may be taken.
  private let roomSignal: LoopSignal

  init(loop: EventLoop, roomSignal: LoopSignal) {
    added = LoopSignal(loop: loop)
    taken = LoopSignal(loop: loop)
    self.roomSignal = roomSignal
  }

  /// Whether no more of them should be taken.
  var isFull: Bool { hasAtLeast(WorkerLimits.largeJobsWaitingBytesMax) }

  /// Whether two of them wait, and have so many bytes together.
  private func hasAtLeast(_ bytes: Int) -> Bool {
    waiting.count > 1 && waiting.reduce(0) { $0 + $1.text.count } >= bytes
  }

  /// Returns at once of all that one call of a lane that is not full brings. More is made to wait, and everything behind it.
  func add(_ entry: JobEntry) async {
    while hasAtLeast(WorkerLimits.largeJobsWaitingBytesMax + StoreLimits.takenBytesMax) {
      await taken.wait()
    }
    guard !isAbandoned else { return }
    waiting.append(entry)
    added.raise()
  }

  /// The next one; nil when there will be no more.
  func next() async -> JobEntry? {
    current = nil
    while waiting.isEmpty {
      if isClosed { return nil }
      await added.wait()
    }
    let wasFull = isFull
    current = waiting.removeFirst()
    noteFewer(wasFull)
    return current
  }

  /// All that was leased to this lane and is not given up.
  var inHand: [JobEntry] { (current.map { [$0] } ?? []) + waiting }

  /// Leaves an entry that waits to whom it was leased anew.
  func drop(_ entry: JobEntry) {
    let wasFull = isFull
    waiting.removeAll { $0 == entry }
    noteFewer(wasFull)
  }

  /// Leaves all of them to whom they will be leased.
  func abandon() {
    isAbandoned = true
    waiting.removeAll()
    taken.raise()
    close()
  }

  private func noteFewer(_ wasFull: Bool) {
    taken.raise()
    guard wasFull, !isFull else { return }
    roomSignal.raise()
  }

  /// Takes no more jobs; those that wait are taken in yet.
  func close() {
    isClosed = true
    added.raise()
  }
}
