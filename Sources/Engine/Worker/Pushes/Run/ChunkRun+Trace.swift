internal import Model
internal import Store

// What its decisions leave for `pushpool trace`. A plain first-attempt accept comes by here only to be told
// that it leaves nothing.
extension ChunkRun {
  /// Whether an accept of this push is recorded: the job asks for it, or something happened to it before.
  func isNoteworthy(_ index: Int) -> Bool {
    tracesAll || pushes[index].attempt > 1 || pushes[index].resends > 0
  }

  /// Begins the trace of a run that came into the lane's hands; its job's trace waits for what it tells.
  func beginTrace() {
    guard !isTraced else { return }
    isTraced = true
    trace?.beginRun()
  }

  /// Ends its part in the trace: the run begins to tell its last, or tells nothing any more.
  func endTrace() {
    guard isTraced else { return }
    isTraced = false
    trace?.endRun()
  }

  /// Begins to tell its last: if no other run of its job is still to do so, this may end the job, and what was recorded of
  /// it goes ahead. So what a record counts can be explained when the job has ended. Till then the timer is soon enough: a
  /// network in trouble leaves something to record in each settlement, and a call for each cost Redis a third of what the
  /// settlements do.
  func finishTrace() {
    endTrace()
    if let trace, !trace.hasRuns { trace.send() }
  }

  /// Takes this answer for the cause of all that follows for the push, until `endAnswer`.
  func beginAnswer(_ answer: TracedAnswer) {
    if trace != nil { self.answer = answer }
  }

  /// An answer that nothing followed from is recorded by itself.
  func endAnswer(_ index: Int) {
    if answer != nil { note(index, nil) }
  }

  /// The request was handed to a connection.
  func noteSent(_ index: Int) {
    guard let trace, trace.isFull else { return }
    trace.record(line(index, JobTrace.line(.sent)))
  }

  /// Records what follows for a push, with the answer that it follows from.
  func note(
    _ index: Int, _ decision: TraceDecision?, because cause: TraceCause? = nil,
    delayMs: UInt64? = nil
  ) {
    guard let trace else { return }
    let answer = answer
    self.answer = nil
    trace.record(decision, because: cause) {
      var line = line(index, JobTrace.line(answer?.kind ?? .decided))
      if let answer {
        line.status = answer.status
        line.reason = answer.reason
        line.elapsedMs = answer.elapsedNs / 1_000_000
      }
      line.delayMs = delayMs
      return line
    }
  }

  /// Records a decision of the run.
  func noteDecision(_ index: Int, _ decision: Push.Decision, because cause: TraceCause?) {
    switch decision {
    case .accepted: note(index, .accepted)
    case .rejected: note(index, .rejected, because: cause)
    case .expired: note(index, .expired, because: cause)
    // What a lost chunk skips is another worker's to send.
    case .skipped: note(index, cause == .takenOver ? .deferred : .skipped, because: cause)
    case .failed: note(index, .failed, because: cause)
    case .invalid: note(index, .uninstall)
    case .later:
      guard let delay = details.delay(of: index) else { return }
      let isBurned = delay.attempt >= Int(pushes[index].attempt)
      note(index, isBurned ? .retry : .deferred, because: cause, delayMs: delay.delayMs)
    case .unrouted: note(index, .deferred, because: cause)
    case .open: return
    }
  }

  /// Records that a recipient has no push.
  func noteRecipient(_ index: Int, because cause: TraceCause) {
    guard let trace else { return }
    var line = JobTrace.line(.decided)
    line.decision = .skipped
    line.cause = cause
    switch lines(of: index) {
    case .users: line.user = lines[index]
    case .installations:
      guard let installation = InstallationLine(lines[index]) else { break }
      line.network = installation.network
      line.token = installation.token
      line.user = installation.user
      line.attempt = installation.attempt + 1
    }
    trace.record(line)
  }

  /// Records that what is left of the chunk is handed back because its app is switched off.
  func noteSwitchedOff() {
    guard let trace else { return }
    var line = JobTrace.line(.decided)
    line.decision = .deferred
    line.cause = .switchedOff
    line.count = openRecipients
    trace.record(line)
  }

  /// Records what the store did about tokens that were called dead.
  func noteFates(_ settlement: Settlement, _ answer: SettleAnswer) {
    guard let trace, !settlement.invalidations.isEmpty else { return }
    // After a lost reply it is not known.
    guard settlement.invalidations.count == answer.fates.count else { return }
    for (invalidation, fate) in zip(settlement.invalidations, answer.fates) {
      var token = invalidation.token
      var user = invalidation.user
      token.withUTF8 { token in
        user.withUTF8 { user in
          var line = JobTrace.line(.settled)
          line.network = invalidation.network
          line.token = UnsafeRawBufferPointer(token)
          line.user = UnsafeRawBufferPointer(user)
          line.reason = invalidation.reason
          line.decision = fate == .removed ? .uninstalled : .kept
          if fate == .spared { line.cause = .massDeath }
          trace.record(line)
        }
      }
    }
  }

  private func line(_ index: Int, _ start: TraceLine) -> TraceLine {
    let push = pushes[index]
    var line = start
    line.network = push.network
    line.environment = push.environment
    line.token = push.token
    line.user = push.user
    line.attempt = Int(push.attempt)
    return line
  }
}
