internal import Model
internal import Store

/// The part of a run in its job's trace, for `pushpool trace`. A plain first-attempt accept comes by here only to be told
/// that it leaves nothing; loop-bound.
struct RunTrace {
  /// Where what happens is recorded; nil when that is nowhere.
  private let trace: JobTrace?
  /// Whether the trace counts the run among those that are still to tell something.
  private var isBegun = false
  /// Whether plain accepts are recorded, too.
  private(set) var recordsAll: Bool
  /// The answer that the decision being made follows from.
  private var answer: TracedAnswer?

  /// - Parameter hasHistory: whether something happened to the recipients before, which their accepts belong to.
  init(_ trace: JobTrace?, hasHistory: Bool) {
    self.trace = trace
    recordsAll = trace.map { $0.isFull || hasHistory } ?? false
  }

  // MARK: The run

  /// The run came into the lane's hands: its job's trace waits for what it tells.
  mutating func begin() {
    guard !isBegun else { return }
    isBegun = true
    trace?.beginRun()
  }

  /// The run begins to tell its last, or tells nothing any more.
  mutating func end() {
    guard isBegun else { return }
    isBegun = false
    trace?.endRun()
  }

  /// The run begins to tell its last: if no other run of its job is still to do so, this may end the job, and what was recorded
  /// of it goes ahead. So what a record counts can be explained when the job has ended. Till then the timer is soon enough: a
  /// network in trouble leaves something to record in each settlement, and a call for each cost Redis a third of what the
  /// settlements do.
  mutating func finish() {
    end()
    if let trace, !trace.hasRuns { trace.send() }
  }

  /// Has every end recorded from now on: what still comes back is counted by nobody.
  mutating func recordAll() { recordsAll = trace != nil }

  /// Records that what is left of the run is handed back because its app is switched off.
  func noteSwitchedOff(recipients: Int) {
    guard let trace else { return }
    var line = JobTrace.line(.decided)
    line.decision = .deferred
    line.cause = .switchedOff
    line.count = recipients
    trace.record(line)
  }

  // MARK: Pushes

  /// Whether an accept of this push is recorded: the job asks for it, or something happened to it before.
  func isNoteworthy(_ push: Push) -> Bool { recordsAll || push.attempt > 1 || push.resends > 0 }

  /// Takes this answer for the cause of all that follows for the push, until `endAnswer`.
  mutating func beginAnswer(_ answer: TracedAnswer) {
    if trace != nil { self.answer = answer }
  }

  /// An answer that nothing followed from is recorded by itself.
  mutating func endAnswer(_ push: @autoclosure () -> Push) {
    if answer != nil { note(push(), nil) }
  }

  /// The request was handed to a connection.
  func noteSent(_ push: @autoclosure () -> Push) {
    guard let trace, trace.isFull else { return }
    trace.record(Self.line(push(), JobTrace.line(.sent)))
  }

  /// Records what follows for a push, with the answer that it follows from.
  mutating func note(
    _ push: @autoclosure () -> Push, _ decision: TraceDecision?, because cause: TraceCause? = nil,
    delayMs: UInt64? = nil
  ) {
    guard let trace else { return }
    let answer = answer
    self.answer = nil
    trace.record(decision, because: cause) {
      var line = Self.line(push(), JobTrace.line(answer?.kind ?? .decided))
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
  /// - Parameter found: the delay of a push that is tried later.
  mutating func noteDecision(
    _ push: Push, because cause: TraceCause?, delay found: @autoclosure () -> DecisionDetails.Delay?
  ) {
    switch push.decision {
    case .accepted: note(push, .accepted)
    case .rejected: note(push, .rejected, because: cause)
    case .expired: note(push, .expired, because: cause)
    // What a lost chunk skips is another worker's to send.
    case .skipped: note(push, cause == .takenOver ? .deferred : .skipped, because: cause)
    case .failed: note(push, .failed, because: cause)
    case .invalid: note(push, .uninstall)
    case .later:
      guard let delay = found() else { return }
      let isBurned = delay.attempt >= Int(push.attempt)
      note(push, isBurned ? .retry : .deferred, because: cause, delayMs: delay.delayMs)
    case .unrouted: note(push, .deferred, because: cause)
    case .open: return
    }
  }

  private static func line(_ push: Push, _ start: TraceLine) -> TraceLine {
    var line = start
    line.network = push.network
    line.environment = push.environment
    line.token = push.token
    line.user = push.user
    line.attempt = Int(push.attempt)
    return line
  }

  // MARK: Recipients

  /// Records that a recipient has no push.
  func noteRecipient(_ text: UnsafeRawBufferPointer, _ kind: ChunkLines, because cause: TraceCause)
  {
    guard let trace else { return }
    var line = JobTrace.line(.decided)
    switch kind {
    case .users: line.user = text
    case .installations: Self.fill(&line, text)
    }
    line.decision = .skipped
    line.cause = cause
    trace.record(line)
  }

  /// - Returns: whether the text is an installation.
  @discardableResult
  private static func fill(_ line: inout TraceLine, _ text: UnsafeRawBufferPointer) -> Bool {
    guard let installation = InstallationLine(text) else { return false }
    line.network = installation.network
    line.token = installation.token
    line.user = installation.user
    line.attempt = installation.attempt + 1
    return true
  }

  // MARK: What the store did

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

  /// Records the pushes that waited for other workers' credentials and were skipped, as none has them.
  func noteSkipped(_ settlement: Settlement, _ answer: SettleAnswer) {
    guard let trace, !answer.skipped.isEmpty else { return }
    for unrouted in settlement.unrouted where answer.skipped.contains(unrouted.place) {
      unrouted.lines.withUnsafeBytes { bytes in
        for text in SegmentLines(bytes) {
          var line = JobTrace.line(.decided)
          guard Self.fill(&line, text) else { continue }
          line.decision = .skipped
          line.cause = .noCredentials
          trace.record(line)
        }
      }
    }
  }
}
