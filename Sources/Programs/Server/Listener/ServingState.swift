internal import Synchronization

/// Things that all listeners of a process share.
final class ServingState: Sendable {
  let figures = ServerFigures()
  let bodies = BodyAllowance()
  private let stopping = Atomic<Bool>(false)

  /// Whether the process ends: each answer is then the last of its connection.
  var isStopping: Bool { stopping.load(ordering: .relaxed) }

  func stop() { stopping.store(true, ordering: .relaxed) }

  /// Waits until clients have had the last answers of their connections, for `ServerLimits.drainMs` at most.
  /// - Parameter pause: waits for `ServerLimits.drainLookMs`.
  func drain(_ pause: () async -> Void) async {
    for _ in 0..<(ServerLimits.drainMs / ServerLimits.drainLookMs) {
      guard figures.openConnections > 0 else { return }
      await pause()
    }
  }
}
