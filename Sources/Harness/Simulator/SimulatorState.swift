internal import LocalServices
internal import Synchronization

/// The state that the loop's thread publishes and other threads read.
final class SimulatorState: Sendable {
  private struct Content {
    var counters = SimulatorCounters()
    var accepted: [AcceptedPush] = []
  }

  private let content = Mutex(Content())

  /// Makes a turn's results visible, before its answers leave.
  func publish(_ counters: SimulatorCounters, accepted: [AcceptedPush]) {
    content.withLock {
      $0.counters = counters
      $0.accepted.append(contentsOf: accepted)
    }
  }

  var counters: SimulatorCounters { content.withLock { $0.counters } }
  var accepted: [AcceptedPush] { content.withLock { $0.accepted } }
}
