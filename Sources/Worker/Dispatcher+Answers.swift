internal import Model
internal import Providers
internal import Reactor
internal import Store

// What an answer, or its absence, means for its push.
extension Dispatcher {
  func decide(
    _ run: ChunkRun, _ tag: Tag, _ destination: Destination, _ outcome: Outcome, elapsedNs: UInt64
  ) {
    switch outcome {
    case .accepted:
      accepted += 1
      run.decide(tag.push, .accepted)
    case .invalidToken where run.material.content.dryRun,
      .doubtfulToken where run.material.content.dryRun:
      // A rehearsal changes nothing.
      run.decide(tag.push, .rejected, because: .dryRun)
    case .invalidToken(let reason, let sinceMs):
      run.decideInvalid(tag.push, reason: reason, sinceMs: sinceMs)
    case .doubtfulToken(let reason): decideDoubtful(run, tag.push, destination, reason)
    case .rejected(let reason):
      logOnce("\(run.claim.app): \(destination.provider.network.rawValue) rejects: \(reason)")
      run.decide(tag.push, .rejected)
    case .retry(let afterMs, _): retry(run, tag.push, afterMs: afterMs)
    case .authRefused(let reason):
      logOnce("\(run.claim.app): \(destination.provider.network.rawValue) refuses: \(reason)")
      destination.credentialRefused(reason: reason, sentNsAgo: elapsedNs)
      resend(run, tag, destination)
    case .unknown: decideUnknown(run, tag.push)
    case .notSent: resend(run, tag, destination)
    }
  }

  func decideDoubtful(
    _ run: ChunkRun, _ index: Int, _ destination: Destination, _ reason: String
  ) {
    guards[Int(destination.number)].noteRefusal()
    if !mayUninstallDoubtful(destination.number) {
      logOnce(
        "\(run.claim.app): too many device tokens are refused as \(reason), so none is uninstalled; "
          + "check the environment and the topic")
    }
    run.decideDoubtful(index, reason: reason)
  }

  /// Whether so few tokens of a destination are refused as bad that those may be dead.
  func mayUninstallDoubtful(_ destination: Int16) -> Bool {
    !guards[Int(destination)].isTripped
  }

  /// Sends a push again that was certainly not processed: no attempt is burned.
  func resend(_ run: ChunkRun, _ tag: Tag, _ destination: Destination) {
    guard run.noteResend(tag.push) <= WorkerLimits.resendsMax else {
      return run.decideLater(
        tag.push, delayMs: WorkerLimits.refusedDelayMs,
        attempt: Int(run.pushes[tag.push].attempt) - 1, because: .resendsUsedUp)
    }
    run.note(tag.push, .resend)
    destination.enqueue(tag.raw, rank: run.claim.priority.rank)
  }

  func decideUnknown(_ run: ChunkRun, _ index: Int) {
    logOnce("\(run.claim.app): connection lost or time ran out before an answer")
    guard run.material.content.unknownPolicy == .resend else {
      return run.decide(index, .failed, because: .givesUpUnknown)
    }
    retry(run, index, afterMs: nil)
  }

  func retry(_ run: ChunkRun, _ index: Int, afterMs: UInt64?) {
    let attempt = Int(run.pushes[index].attempt)
    guard run.material.allowsRetry else {
      return run.decide(index, .expired, because: .nowOrNever)
    }
    // One draw per run and attempt, so that a chunk's retries are one residual and not hundreds.
    let decision = policy.decide(
      attempt: attempt, retryAfterMs: afterMs, nowMs: wallMs,
      expiresAtMs: run.material.expiresAtMs, random: run.jitter(attempt: attempt))
    switch decision {
    case .retry(let delayMs): run.decideLater(index, delayMs: delayMs, attempt: attempt)
    case .expired: run.decide(index, .expired, because: .expiresFirst)
    case .giveUp: run.decide(index, .failed, because: .attemptsUsedUp)
    }
  }
}
