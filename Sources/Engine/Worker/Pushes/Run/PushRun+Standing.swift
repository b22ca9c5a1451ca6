internal import Model
internal import Store

extension PushRun {
  enum Standing {
    case active
    /// Send nothing more of it, finish what is in flight, hand the rest back.
    case paused
    /// Send nothing more of it; what is left counts as skipped.
    case cancelled
    /// Somebody else owns it: what still comes back is not counted.
    case stale
  }

  /// The recipients' lines; they live in the arena.
  var lines: [UnsafeRawBufferPointer] { recipients.lines }
  /// The first recipient not resolved yet.
  var cursor: Int { recipients.cursor }
  var isResolved: Bool { recipients.isResolved }
  /// Recipients that are not done.
  var openRecipients: Int { recipients.open }
  var isFinished: Bool { openRecipients == 0 }

  /// Whether more of its recipients may be resolved.
  var wantsResolving: Bool { standing == .active && !isResolved }

  /// Whether its job may have another chunk behind it: of a job's chunks, the last one alone is smaller than the others.
  var mayBeFollowed: Bool { lines.count >= Limits.chunkRecipientsMax && !claim.isResidual }

  /// Returns whether a line is a user or an installation.
  func lines(of index: Int) -> ChunkLines { recipients.lines(of: index) }
}
