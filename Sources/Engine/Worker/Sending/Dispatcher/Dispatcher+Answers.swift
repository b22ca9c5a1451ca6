internal import HTTP2
internal import Model
internal import Providers
internal import Reactor
internal import Store

// What an answer, or its absence, means for its push.
extension Dispatcher {
  func receive(_ answer: RequestAnswer, to raw: UInt64, from destination: Destination) {
    if BatchTag.isOne(raw) { return receive(answer, to: BatchTag(raw), from: destination) }
    let tag = PushTag(raw)
    guard let run = runs[tag] else { return judgeUnawaited(answer, destination) }
    run.noteReturned()
    let quarantinedNs = run.quarantined.sinceNs(tag.push)
    if answer.isAccused { noteAccused(run, tag.push, destination) }
    switch answer.disposition {
    case .notSent:
      judgeNotSent(answer, resends: Int(run.pushes[tag.push].resends), destination)
      decideNotSent(run, tag, destination, answer)
    case .malformed:
      decideMalformed(run, tag, destination, answer, quarantinedNs: quarantinedNs)
      judgeMalformed(answer, destination)
    case .unknown:
      judgeSilence(answer, destination)
      decideUnanswered(run, tag, answer)
    case .answered:
      latency.add(destination.network, elapsedNs: answer.elapsedNs)
      run.noteAnswer(tag.push)
      if !destination.quarantine.isEmpty { destination.noteAnswer(toJob: run.claim.job) }
      if answer.isAccepted {
        judgeAccept(answer, of: run, destination)
        return accept(run, tag.push, answer)
      }
      let classification = destination.provider.classify(reply(answer, to: run))
      if case .accepted = classification {
        judgeAccept(answer, of: run, destination)
        return accept(run, tag.push, answer)
      }
      let judgement = judge(
        classification, answer, of: run, attempt: Int(run.pushes[tag.push].attempt), destination)
      decide(run, tag, destination, answer, judgement)
    }
  }

  func accept(_ run: ChunkRun, _ index: Int, _ answer: RequestAnswer) {
    accepted += 1
    if run.isNoteworthy(index) { run.beginAnswer(TracedAnswer(answer, .accepted)) }
    run.decide(index, .accepted)
  }

  func decideNotSent(
    _ run: ChunkRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer
  ) {
    run.beginAnswer(TracedAnswer(answer, nil))
    resend(run, tag, destination, isRefused: answer.isRefused)
    run.endAnswer(tag.push)
  }

  func decideUnanswered(
    _ run: ChunkRun, _ tag: PushTag, _ answer: RequestAnswer, lead: ChunkRun? = nil
  ) {
    run.beginAnswer(TracedAnswer(answer, nil))
    decideUnknown(run, tag.push, lead: lead)
    run.endAnswer(tag.push)
  }

  /// - Parameters:
  ///   - quarantinedNs: since when the push had been in quarantine before; nil when it was not.
  ///   - isAlone: whether the request carried no other push.
  ///   - isFirst: of the pushes of its request, which is one complaint.
  func decideMalformed(
    _ run: ChunkRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer,
    quarantinedNs: UInt64?, isAlone: Bool = true, isFirst: Bool = true
  ) {
    // Whether a connection's only request was processed before the connection was closed, nobody knows.
    if answer.isAccused, run.material.content.unknownPolicy != .resend {
      return decideUnanswered(run, tag, answer)
    }
    run.beginAnswer(TracedAnswer(answer, .rejected(reason: Self.malformedReason)))
    // One that was tried apart may have left with others since.
    let isApart = isAlone && run.quarantined.isApart(tag.push)
    let complaint: Quarantine.Complaint =
      !isApart ? .accused : answer.isAccused ? .closedApart : .refusedApart
    if isFirst { note(complaint, ofJob: run.claim.job, destination) }
    decideMalformed(run, tag.push, destination, quarantinedNs: quarantinedNs, complaint)
    run.endAnswer(tag.push)
  }

  /// Decides about a push that was answered with something else than an accept.
  func decide(
    _ run: ChunkRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer,
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
      return retry(run, tag.push, afterMs: afterMs, lead: judgement.lead)
    }
    // The network's trouble and not the push's: no attempt is burned. What comes back while others get through does so as
    // another attempt would.
    let delayMs =
      destination.pauseMs.map { max(afterMs ?? 0, $0) }
      ?? spreadMs(run, tag.push, afterMs: afterMs, lead: judgement.lead)
    if let expiresAtMs = run.material.expiresAtMs, wallMs + Int64(delayMs) >= expiresAtMs {
      return run.decide(tag.push, .expired)
    }
    putAside(run, tag.push, delayMs: delayMs)
  }

  private func decideOutcome(
    _ run: ChunkRun, _ tag: PushTag, _ destination: Destination, _ answer: RequestAnswer,
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
    case .doubtfulToken(let reason): decideDoubtful(run, tag.push, reason)
    case .rejected(let reason):
      reasons.note("\(run.claim.app): \(destination.provider.network.rawValue) rejects: \(reason)")
      run.decide(tag.push, .rejected)
    case .retry(let afterMs, _):
      retry(run, tag.push, afterMs: afterMs, lead: judgement.lead)
    // As its trouble that is judged.
    case .foreign: retry(run, tag.push, afterMs: nil, lead: judgement.lead)
    case .authRefused(let reason):
      reasons.note("\(run.claim.app): \(destination.provider.network.rawValue) refuses: \(reason)")
      resendRefused(run, tag, destination, judgement)
    }
  }

  /// A token that is called bad may be one of the other environment: it is tried there once, where the app
  /// has credentials and the job allows it. Never removed is one that could not be tried there.
  private func decideDoubtful(_ run: ChunkRun, _ index: Int, _ reason: String) {
    let push = run.pushes[index]
    guard !push.isRedirected else { return run.decideDoubtful(index, reason: reason) }
    let other = push.environment.other
    let number = directory.position(
      app: run.claim.app, network: push.network, environment: other)
    guard let number else { return decideDoubtfulElsewhere(run, index, reason) }
    let route = Route(to: number)
    guard route != push.route else { return run.decideDoubtful(index, reason: reason) }
    guard run.material.content.environments.contains(other) else {
      reasons.note(
        "\(run.claim.app): \(push.network.rawValue) calls device tokens bad that a job may not try in "
          + "\(other.rawValue): they are kept")
      return run.decide(index, .rejected)
    }
    run.redirect(index, to: route)
    enqueue(run, push: index)
    destinations[number]?.wake()
  }

  /// Decides about a token that is called bad, whose other environment this worker has no credentials for: another
  /// worker that has them tries it.
  private func decideDoubtfulElsewhere(_ run: ChunkRun, _ index: Int, _ reason: String) {
    let push = run.pushes[index]
    let other = push.environment.other
    guard run.material.content.environments.contains(other) else {
      return run.decideDoubtful(index, reason: reason)
    }
    // A token that goes to and fro between two that have one environment each must come to an end.
    guard Int(push.attempt) < policy.attemptsMax else {
      return run.decide(index, .failed, because: .attemptsUsedUp)
    }
    switch fleet.othersHave(run.claim.app, push.network, other) {
    case true?:
      run.discountMisfit(index)
      run.decideUnrouted(index, for: other, attempt: Int(push.attempt))
    case false?: run.decideDoubtful(index, reason: reason)
    case nil: retry(run, index, afterMs: WorkerLimits.routesUnknownMs)
    }
  }

  /// Always an attempt, whatever the breaker says: it may have been delivered, and the attempts are what
  /// bounds how often a device gets the same push.
  private func decideUnknown(_ run: ChunkRun, _ index: Int, lead: ChunkRun? = nil) {
    reasons.note("\(run.claim.app): connection lost or time ran out before an answer")
    guard run.material.content.unknownPolicy == .resend else {
      return run.decide(index, .failed, because: .givesUpUnknown)
    }
    retry(run, index, afterMs: nil, lead: lead)
  }
}
