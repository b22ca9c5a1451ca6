internal import Synchronization

/// Things that all listeners of a process share.
final class ServingState: Sendable {
  let figures = ServerFigures()
  let bodies = BodyAllowance()
  private let stopping = Atomic<Bool>(false)

  /// Whether the process ends: each answer is then the last of its connection.
  var isStopping: Bool { stopping.load(ordering: .relaxed) }

  func stop() { stopping.store(true, ordering: .relaxed) }
}
