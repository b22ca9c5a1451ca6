internal import Model
internal import Reactor
internal import Store

extension ChunkRun {
  enum Standing {
    case active
    /// Send nothing more of it, finish what is in flight, hand the rest back.
    case paused
    /// Send nothing more of it; what is left counts as skipped.
    case cancelled
    /// Somebody else owns it: what still comes back is not counted.
    case stale
  }

  var isResolved: Bool { cursor >= lines.count }
  var isFinished: Bool { openRecipients == 0 }

  /// Whether more of its recipients may be resolved.
  var wantsResolving: Bool { standing == .active && !isResolved }

  /// Whether its job may have another chunk behind it: of a job's chunks, the last one alone is smaller than the others.
  var mayBeFollowed: Bool { lines.count >= Limits.chunkRecipientsMax && !claim.isResidual }

  /// Whether it is sent from its job's entry, and should not be for longer.
  var isOverdue: Bool {
    direct != nil && !isFinished
      && (standing != .active || hasNews || hasStaleBindings || ageMs >= WorkerLimits.directMsMax)
  }

  /// Whether it is sent from its job's entry, and there is nothing to do for it but to wait for its answers, or to end it.
  var isQuiet: Bool {
    direct != nil && standing != .stale
      && (isFinished || isResolved && standing == .active && !hasStaleBindings)
  }

  /// Whether all that is left of its chunk is under way: nothing of it is to be read or sent.
  var onlyWaits: Bool {
    direct == nil && isResolved && !underway.isReading && inFlight > 0 && openPushes == inFlight
  }

  /// Since when it is in hand.
  var ageMs: UInt64 { (loop.nowNs &- begunNs) / 1_000_000 }

  /// Whether the chunk, lost and back again, still has this run's lines and not another worker's.
  func agrees(with claim: ChunkClaim) -> Bool {
    claim.recipients == self.claim.recipients + news.addedLines
      || claim.recipients == self.claim.recipients + news.confirmedLines
  }

  /// Returns whether a line is a user or an installation.
  func lines(of index: Int) -> ChunkLines {
    index < firstInstallation ? .users : .installations
  }

  /// The first of these lines that is an installation; those before it are users.
  static func firstInstallation(
    _ lines: [UnsafeRawBufferPointer], of kind: ChunkLines
  ) -> Int {
    guard kind == .users else { return 0 }
    var first = lines.count
    while first > 0, InstallationLine.isOne(lines[first - 1]) { first -= 1 }
    return first
  }
}
