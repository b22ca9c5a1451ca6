internal import Reactor
internal import Store

/// Jobs whose admission takes many trips to Redis: one is taken in at a time, while those that come behind it pass.
/// Loop-bound.
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

  init(loop: EventLoop) {
    added = LoopSignal(loop: loop)
    taken = LoopSignal(loop: loop)
  }

  /// Returns once there is room for it: as many wait as memory is meant for.
  func add(_ entry: JobEntry) async {
    while waiting.count >= WorkerLimits.largeJobsWaitingMax { await taken.wait() }
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
    defer { taken.raise() }
    current = waiting.removeFirst()
    return current
  }

  /// All that was leased to this lane and is not given up.
  var inHand: [JobEntry] { (current.map { [$0] } ?? []) + waiting }

  /// Leaves an entry that waits to whom it was leased anew.
  func drop(_ entry: JobEntry) {
    waiting.removeAll { $0 == entry }
    taken.raise()
  }

  /// Leaves all of them to whom they will be leased.
  func abandon() {
    isAbandoned = true
    waiting.removeAll()
    taken.raise()
    close()
  }

  /// Those that wait are taken in yet.
  func close() {
    isClosed = true
    added.raise()
  }
}
