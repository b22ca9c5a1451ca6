package import Model
internal import Store

/// The finding of one look at an enqueued job.
package enum JobSighting: Sendable {
  /// No worker has taken it yet, or one is about to.
  case waiting
  case admitted(JobRecord)
  /// A job of the same id and content came earlier, and this is its record: it may go on still.
  case duplicate(JobRecord)
  /// The letter that it names is one of the job's shard.
  case refused(JobRefusal)
  /// Neither queued, nor admitted, nor refused: somebody deleted it.
  case gone

  /// Whether a later look finds nothing else.
  package var isLast: Bool {
    switch self {
    case .waiting: false
    // Of a cancelled job some pushes may still be under way.
    case .admitted(let record), .duplicate(let record):
      record.state.isFinal && record.pending == 0
    case .refused, .gone: true
    }
  }

  /// Nil before a worker has taken the job in, and when nobody will.
  package var record: JobRecord? {
    switch self {
    case .admitted(let record), .duplicate(let record): record
    case .waiting, .refused, .gone: nil
    }
  }
}

extension DeadLetter {
  /// The reason for which its job was refused, as a record tells it.
  var refusal: JobRefusal {
    JobRefusal(reason: reason, field: field, message: message, letter: entry)
  }
}
