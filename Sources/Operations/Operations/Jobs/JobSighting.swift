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
    // Of a cancelled job some pushes may still be under way.
    case .admitted(let record): record.state.isFinal && record.pending == 0
    case .duplicate, .refused, .gone: true
    }
  }
}
