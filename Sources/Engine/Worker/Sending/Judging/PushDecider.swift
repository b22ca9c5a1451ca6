internal import HTTP2
internal import Model
internal import Providers
internal import Store

/// Decides what becomes of a push by the answer to its request, or because none came; loop-bound. What the answer says of the
/// network has been judged before.
final class PushDecider {
  private let clock: LaneClock
  private let router: PushRouter
  private let rescheduling: Rescheduling
  private let isolation: Isolation
  private let doubtful: DoubtfulTokens
  private let reasons: ReasonLog
  private(set) var accepted = 0

  init(
    clock: LaneClock, router: PushRouter, rescheduling: Rescheduling, isolation: Isolation,
    doubtful: DoubtfulTokens, reasons: ReasonLog
  ) {
    self.clock = clock
    self.router = router
    self.rescheduling = rescheduling
    self.isolation = isolation
    self.doubtful = doubtful
    self.reasons = reasons
  }

  // MARK: By an answer

  func accept(_ run: PushRun, _ index: Int, _ answer: RequestAnswer) {
    accepted += 1
    if run.isNoteworthy(index) { run.beginAnswer(TracedAnswer(answer, .accepted)) }
    run.decide(index, .accepted)
  }

  /// Decides about a push that was answered with something else than an accept.
  func decide(
    _ run: PushRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer,
    _ judgement: Judgement
  ) {
    // Not before: when the breaker opens, others of the run are put aside, which is no answer to them.
    run.beginAnswer(TracedAnswer(answer, judgement.classification))
    defer { run.endAnswer(tag.push) }
    guard let trouble = judgement.trouble, case .retry(let afterMs, _) = judgement.classification
    else {
      if judgement.sign == .misfit, !run.material.content.dryRun { run.noteMisfit(tag.push) }
      return decideOutcome(run, tag, destination, answer, judgement)
    }
    if trouble == .counted || run.pushes[tag.push].isRedirected || !run.material.allowsRetry {
      return rescheduling.retry(run, tag.push, afterMs: afterMs, lead: judgement.lead)
    }
    // The network's trouble and not the push's: no attempt is burned. What comes back while others get through does so as
    // another attempt would.
    let delayMs =
      destination.pauseMs.map { max(afterMs ?? 0, $0) }
      ?? rescheduling.spreadMs(run, tag.push, afterMs: afterMs, lead: judgement.lead)
    if let expiresAtMs = run.material.expiresAtMs, clock.wallMs + Int64(delayMs) >= expiresAtMs {
      return run.decide(tag.push, .expired)
    }
    rescheduling.putAside(run, tag.push, delayMs: delayMs)
  }

  private func decideOutcome(
    _ run: PushRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer,
    _ judgement: Judgement
  ) {
    switch judgement.classification {
    case .accepted: accept(run, tag.push, answer)
    case .invalidToken where run.material.content.dryRun,
      .doubtfulToken where run.material.content.dryRun:
      // A rehearsal changes nothing.
      run.decide(tag.push, .rejected, because: .dryRun)
    case .invalidToken(let reason, let sinceMs):
      run.decideInvalid(tag.push, reason: reason, sinceMs: sinceMs)
    case .doubtfulToken(let reason): doubtful.decide(run, tag.push, reason)
    case .rejected(let reason):
      reasons.note("\(run.claim.app): \(destination.provider.network.rawValue) rejects: \(reason)")
      run.decide(tag.push, .rejected)
    case .retry(let afterMs, _):
      rescheduling.retry(run, tag.push, afterMs: afterMs, lead: judgement.lead)
    // As its trouble that is judged.
    case .foreign: rescheduling.retry(run, tag.push, afterMs: nil, lead: judgement.lead)
    case .authRefused(let reason):
      reasons.note("\(run.claim.app): \(destination.provider.network.rawValue) refuses: \(reason)")
      resendRefused(run, tag, destination, judgement)
    }
  }

  /// Sends a push again whose credential the network refused: no attempt is burned, unless others go through with that
  /// credential and this push does not.
  private func resendRefused(
    _ run: PushRun, _ tag: PushTag, _ destination: Destination, _ judgement: Judgement
  ) {
    if judgement.refusal == .isolated,
      Int(run.pushes[tag.push].resends) >= WorkerLimits.isolatedRefusalsMax
    {
      return rescheduling.retry(run, tag.push, afterMs: nil, lead: judgement.lead)
    }
    router.resend(run, tag, destination, isRefused: false)
  }

  // MARK: Without an answer

  func decideNotSent(
    _ run: PushRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer
  ) {
    run.beginAnswer(TracedAnswer(answer, nil))
    router.resend(run, tag, destination, isRefused: answer.failure.isRefused)
    run.endAnswer(tag.push)
  }

  func decideUnanswered(
    _ run: PushRun, _ tag: PushTag, _ answer: RequestAnswer, lead: PushRun? = nil
  ) {
    run.beginAnswer(TracedAnswer(answer, nil))
    decideUnknown(run, tag.push, lead: lead)
    run.endAnswer(tag.push)
  }

  /// Always an attempt, whatever the breaker says: it may have been delivered, and the attempts are what
  /// bounds how often a device gets the same push.
  private func decideUnknown(_ run: PushRun, _ index: Int, lead: PushRun?) {
    reasons.note("\(run.claim.app): connection lost or time ran out before an answer")
    guard run.material.content.unknownPolicy == .resend else {
      return run.decide(index, .failed, because: .givesUpUnknown)
    }
    rescheduling.retry(run, index, afterMs: nil, lead: lead)
  }

  /// - Parameters:
  ///   - quarantinedNs: since when the push had been in quarantine before; nil when it was not.
  ///   - isAlone: whether the request carried no other push.
  ///   - isFirst: of the pushes of its request, which is one complaint.
  func decideMalformed(
    _ run: PushRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer,
    quarantinedNs: UInt64?, isAlone: Bool = true, isFirst: Bool = true
  ) {
    // Whether a connection's only request was processed before the connection was closed, nobody knows.
    if answer.failure.isAccused, run.material.content.unknownPolicy != .resend {
      return decideUnanswered(run, tag, answer)
    }
    run.beginAnswer(TracedAnswer(answer, .rejected(reason: ConnectionTrouble.malformed)))
    // One that was tried apart may have left among others since, or with them.
    let isApart = isAlone && destination.reports.isApart && run.quarantined.isApart(tag.push)
    let trial = destination.apart.trial
    let complaint: Quarantine.Complaint =
      !isApart
      ? .accused
      : answer.failure.isAccused ? .closedApart(trial: trial) : .refusedApart(trial: trial)
    // The first word against a push says as much of its connection, unless all of its job may be malformed.
    if !isApart, quarantinedNs == nil,
      run.material.verdicts.isAccepted(by: destination.network)
        || !destination.quarantine.holds(run.claim.job, isRepeated: false, nowNs: 0)
    {
      destination.reports.sign = .trouble
    }
    if isFirst { isolation.note(complaint, ofJob: run.claim.job, destination) }
    let isDecided = isolation.decideMalformed(
      run, tag.push, destination, quarantinedNs: quarantinedNs, complaint)
    if !isDecided { router.queue(run, tag.push, destination) }
    run.endAnswer(tag.push)
  }
}
