internal import HTTP2
internal import Logging
internal import Model
internal import Providers
internal import Store

/// Says what an answer, or its absence, means for its network, whatever it means for its push; loop-bound. Each request is judged
/// once, here, and nobody else tells a destination's breaker of an answer: it counts each of them once.
final class AnswerJudge {
  private let clock: LaneClock
  private let latency: LatencyHistogram
  private let reasons: ReasonLog
  private let log: Logger

  init(clock: LaneClock, latency: LatencyHistogram, reasons: ReasonLog, log: Logger) {
    self.clock = clock
    self.latency = latency
    self.reasons = reasons
    self.log = log
  }

  // MARK: Answers

  /// An answer as its provider reads it.
  /// - Parameter run: of a push of the request; nil when none of them is awaited any more.
  func reply(_ answer: RequestAnswer, to run: PushRun?) -> ProviderAnswer {
    ProviderAnswer(
      status: answer.content.status, retryAfterSeconds: retryAfterSeconds(answer, run),
      body: answer.content.body, isBodyCut: answer.content.isBodyCut,
      isDryRun: run?.material.content.dryRun ?? false, isPartial: answer.content.isPartial,
      contentType: answer.content.contentType)
  }

  /// How long the network asks to wait, as far as that is believed: an hour at most. What asks for more is no plan, and so ends
  /// no push by its expiry: the push is tried again halfway to it.
  /// - Parameter run: of a push of the request; nil when none of them is awaited any more.
  private func retryAfterSeconds(_ answer: RequestAnswer, _ run: PushRun?) -> Int? {
    let secondsMax = Int(Limits.retryAfterMsMax / 1_000)
    guard let seconds = answer.content.retryAfter.seconds(nowMs: clock.wallMs), seconds > secondsMax
    else {
      return answer.content.retryAfter.seconds(nowMs: clock.wallMs)
    }
    guard let run else { return secondsMax }
    reasons.note(
      "\(run.claim.app): an answer with status \(answer.content.status) asks to wait for more than an hour (Retry-After): "
        + "its push waits for an hour, or for half of its job's time where that is less")
    guard let expiresAtMs = run.material.expiresAtMs else { return secondsMax }
    return min(secondsMax, Int(max(0, expiresAtMs - clock.wallMs) / 2_000))
  }

  /// How long the network took to answer.
  func noteTime(_ answer: RequestAnswer, _ destination: Destination) {
    latency.add(destination.network, elapsedNs: answer.elapsedNs)
  }

  /// Judges an answer that is no accept.
  /// - Parameters:
  ///   - run: of a push of the request; nil when none of them is awaited any more.
  ///   - attempt: of the request's pushes the highest; 0 without any.
  ///   - lead: as of the judgement.
  func judge(
    _ classification: Classification, _ answer: RequestAnswer, of run: PushRun?, attempt: Int,
    _ destination: Destination, lead: PushRun? = nil
  ) -> Judgement {
    if case .foreign(let reason) = classification {
      return judgeForeign(reason, answer, destination, lead: lead)
    }
    let sign = destination.provider.sign(of: classification, status: answer.content.status)
    guard sign == .trouble || sign == .overRate,
      case .retry(let afterMs, let reason) = classification
    else {
      destination.noteGood(elapsedNs: answer.elapsedNs)
      let refusal = judgeCredential(classification, answer, destination)
      if case .rejected(let reason) = classification, let run,
        judgeRefusal(reason, sign, answer, of: run, destination)
      {
        return Judgement(
          classification: .retry(afterMs: nil, reason: reason), sign: sign, trouble: .forgiven,
          lead: lead)
      }
      // Whoever says that a token has died knew it: the app is set up rightly.
      if case .invalidToken = classification {
        destination.noteAccept()
        if let run { destination.noteAccept(of: run.claim.job) }
      }
      // What asks its push alone to come later is not each time an attempt either while the network is in trouble.
      var isForgiven = false
      if case .retry = classification { isForgiven = !destination.noteDecline() }
      return Judgement(
        classification: classification, sign: sign, trouble: isForgiven ? .forgiven : nil,
        refusal: refusal, lead: lead)
    }
    if sign == .overRate { judgeOverRate(answer, destination) }
    // What the network itself asks for: its rules say besides how long the push waits that was answered. A quota is everybody's.
    let askedMs =
      answer.content.status == 429
      ? afterMs : retryAfterSeconds(answer, nil).map { UInt64($0) * 1_000 }
    let consequence = destination.noteTrouble(
      elapsedNs: answer.elapsedNs, retryAfterMs: askedMs, attempt: attempt,
      reason: "\(answer.content.status) \(reason)")
    // That there were too many is no push's fault.
    let isForgiven = sign == .overRate && consequence == .counted
    return Judgement(
      classification: classification, sign: sign, trouble: isForgiven ? .forgiven : consequence,
      lead: lead)
  }

  private func judgeOverRate(_ answer: RequestAnswer, _ destination: Destination) {
    reasons.note(
      "\(destination.app): \(destination.network.rawValue) takes fewer pushes a second than it gets (status "
        + "\(answer.content.status)): workers send more slowly, and try for more by and by",
      level: .notice)
    destination.noteOverRate(elapsedNs: answer.elapsedNs)
  }

  /// An answer that the network did not give.
  private func judgeForeign(
    _ reason: String, _ answer: RequestAnswer, _ destination: Destination, lead: PushRun?
  ) -> Judgement {
    reasons.note(
      "\(destination.app): \(destination.network.rawValue) is answered for by something else "
        + "(status \(answer.content.status)): the alarm says what came",
      metadata: ["reason": "\(reason)"])
    let consequence = destination.noteForeign(elapsedNs: answer.elapsedNs, reason: reason)
    return Judgement(
      classification: .retry(afterMs: WorkerLimits.foreignDelayMs, reason: reason),
      sign: .trouble, trouble: consequence, lead: lead)
  }

  /// The network accepted a push.
  func noteAccept(_ answer: RequestAnswer, of run: PushRun, _ destination: Destination) {
    noteGood(answer, destination)
    destination.noteAccept()
    run.material.verdicts.noteAccept(by: destination.network)
    destination.noteAccept(of: run.claim.job)
  }

  /// An answer that is no trouble of the network's, and speaks for the credential.
  func noteGood(_ answer: RequestAnswer, _ destination: Destination) {
    destination.noteGood(elapsedNs: answer.elapsedNs)
    destination.credentialAccepted(sentNsAgo: answer.elapsedNs)
  }

  // MARK: Refusals

  /// A refusal that says something of other pushes.
  /// - Returns: whether the push waits for the app to be set up rightly.
  private func judgeRefusal(
    _ reason: String, _ sign: AnswerSign, _ answer: RequestAnswer, of run: PushRun,
    _ destination: Destination
  ) -> Bool {
    // A topic that the job names is the job's content, not how the app is set up.
    let isOwn = destination.network == .apns && run.material.content.apns?.topic != nil
    switch sign {
    case .setup where !isOwn:
      return judgeSetup(reason, isSure: true, answer, of: run, destination)
    case .misfit where !isOwn:
      return judgeSetup(reason, isSure: false, answer, of: run, destination)
    case .setup: judgeContent(reason, isSure: true, of: run, destination)
    case .misfit: judgeContent(reason, isSure: false, of: run, destination)
    case .content(let isSure): judgeContent(reason, isSure: isSure, of: run, destination)
    case .none, .trouble, .overRate: break
    }
    return false
  }

  /// The network refused a push because of how the app is set up. That concerns all that the app sends, or such jobs alone.
  /// - Returns: whether the push waits.
  private func judgeSetup(
    _ reason: String, isSure: Bool, _ answer: RequestAnswer, of run: PushRun,
    _ destination: Destination
  ) -> Bool {
    let health = destination.health
    let isProven = health.isProven
    // Where some are accepted, what may be of single tokens is: the last of a job may all be of that kind.
    guard isSure || !isProven || health.setup.isHolding else { return false }
    let job = run.claim.job
    let isFirst = !health.jobHolds.hasRefused(job)
    let own = destination.noteRefusal(
      of: job, reason, isSure: isSure, elapsedNs: answer.elapsedNs)
    // Where others are accepted, many refusals of one job say no more of the app than one does.
    let isHeld =
      (!isProven || isFirst || health.setup.isHolding)
      && destination.noteRefusal(reason, isSure: isSure, elapsedNs: answer.elapsedNs)
    guard own != .counted else { return isHeld }
    if own == .opened, !destination.health.setup.isHolding {
      destination.journal.noteHeld(job: job, because: reason)
    }
    return true
  }

  /// The network refused what a job says.
  private func judgeContent(
    _ reason: String, isSure: Bool, of run: PushRun, _ destination: Destination
  ) {
    let material = run.material
    guard
      material.verdicts.noteRefusal(
        by: destination.network, reason, isSure: isSure && !material.receivers.isPersonal)
    else { return }
    let sentence =
      "\(run.claim.app): \(destination.network.rawValue) refuses the content of a job for every device alike "
      + "(\(reason)): the rest of the job is rejected there without being sent; enqueue it anew, corrected"
    log.error(
      "\(sentence)",
      metadata: ["app": "\(run.claim.app)", "job": "\(run.claim.job)", "reason": "\(reason)"])
  }

  /// Notes what an answer says of the credential, once a request.
  private func judgeCredential(
    _ classification: Classification, _ answer: RequestAnswer, _ destination: Destination
  ) -> Authorization.Refusal? {
    switch classification {
    case .authRefused(let reason):
      return destination.credentialRefused(reason: reason, sentNsAgo: answer.elapsedNs)
    case .accepted, .invalidToken, .doubtfulToken:
      destination.credentialAccepted(sentNsAgo: answer.elapsedNs)
    // It may be a gateway's, which knows nothing of credentials.
    case .rejected, .retry, .foreign: break
    }
    return nil
  }

  // MARK: Without an answer

  /// No answer came.
  func noteSilence(_ answer: RequestAnswer, _ destination: Destination) {
    // One of the requests on its connection may have broken that, and the network is well.
    // Nor does it say anything of the network that a connection of many answers ended.
    // Nor that a request waits in vain which others overtake.
    guard !answer.failure.isCutOff, !answer.failure.isAccused || !destination.isAnswering,
      !destination.isSilenceItsOwn(answer)
    else {
      return destination.noteNothing(elapsedNs: answer.elapsedNs)
    }
    _ = destination.noteTrouble(
      elapsedNs: answer.elapsedNs, retryAfterMs: nil, reason: "no answer")
  }

  /// The request was not processed. That the network refuses the stream of a push again is a sign that it is in trouble.
  /// - Parameter resends: how often the push came back unprocessed before; of several the most.
  func noteNotSent(_ answer: RequestAnswer, resends: Int, _ destination: Destination) {
    // One that happens to a probe is trouble at once: else probes would follow one another as fast as they are refused.
    guard answer.failure.isRefused,
      resends >= WorkerLimits.refusalsMax || destination.health.breaker.state == .halfOpen
    else {
      return destination.noteNothing(elapsedNs: answer.elapsedNs)
    }
    _ = destination.noteTrouble(
      elapsedNs: answer.elapsedNs, retryAfterMs: nil, reason: "REFUSED_STREAM")
  }

  /// The network called a request malformed, which its quarantine knows by now. What happens to one job alone may be its own
  /// doing; to several, while nothing is answered, it is the network's.
  func noteMalformed(_ answer: RequestAnswer, _ destination: Destination) {
    guard !destination.isAnswering, destination.quarantine.jobs > 1 else {
      return destination.noteNothing(elapsedNs: answer.elapsedNs)
    }
    _ = destination.noteTrouble(
      elapsedNs: answer.elapsedNs, retryAfterMs: nil, reason: ConnectionTrouble.malformed)
  }

  /// Nobody waits for the answer any more.
  func noteUnawaited(_ answer: RequestAnswer, _ destination: Destination) {
    destination.noteNothing(elapsedNs: answer.elapsedNs)
  }
}
