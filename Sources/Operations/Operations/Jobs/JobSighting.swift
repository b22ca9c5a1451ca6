package import Model
package import Store

/// What one look at an enqueued job finds.
package enum JobSighting: Sendable {
  /// No worker has taken it yet, or one is about to. With a sentence when it waits because no worker has its app.
  case waiting(complaint: String?)
  case admitted(JobRecord)
  /// A job of the same id and content came earlier; this is its record.
  case duplicate(JobRecord)
  case refused(DeadLetter)
  /// Neither queued, nor admitted, nor refused: somebody deleted it.
  case gone

  /// Whether a later look finds nothing else.
  package var isLast: Bool {
    switch self {
    case .waiting: false
    case .admitted(let record): record.state.isFinal
    case .duplicate, .refused, .gone: true
    }
  }
}
