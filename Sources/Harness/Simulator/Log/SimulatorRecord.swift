internal import LocalServices

/// The record of what was accepted and answered: the accept log, the pushes that are kept in memory, and the counters;
/// loop-bound. It is written before the answers leave, so that what is answered is on record.
final class SimulatorRecord {
  private let state: SimulatorState
  private let log: AcceptLog?
  private var accepted: [AcceptedPush] = []
  private var acceptsLeftToKeep: Int
  /// Whether the log has a gap: nothing is accepted any more.
  private(set) var hasFailed = false
  var counters = SimulatorCounters()
  /// Called before the counters are published, for those that others keep.
  var onPublish: (inout SimulatorCounters) -> Void = { _ in }

  /// - Parameter keptMax: how many pushes are kept in memory.
  init(state: SimulatorState, log: AcceptLog?, keptMax: Int) {
    self.state = state
    self.log = log
    acceptsLeftToKeep = keptMax
  }

  func note(
    _ token: UnsafeRawBufferPointer, of push: Acceptance, connection: Int, stream: Int32,
    nowMs: Int64
  ) {
    counters.accepted += 1
    if let log {
      let isWritten = log.append(
        token, of: push, connection: connection, stream: stream, nowMs: nowMs)
      if !isWritten { hasFailed = true }
    }
    guard acceptsLeftToKeep > 0 else { return }
    acceptsLeftToKeep -= 1
    accepted.append(
      AcceptedPush(
        network: push.network, token: token.text, topic: push.topic.text, connection: connection,
        stream: stream, bodyHash: push.bodyHash, acceptedAtMs: nowMs))
  }

  /// Writes the log, then publishes the counters.
  func write() {
    if let log, !log.write() { hasFailed = true }
    publish()
  }

  func publish() {
    onPublish(&counters)
    state.publish(counters, accepted: accepted)
    accepted.removeAll(keepingCapacity: true)
  }
}
