internal import HTTP2
internal import Model
internal import Store

// Pushes that are sent again: at once, when their destination can take them, or as another attempt.
extension Dispatcher {
  /// Sends a push again that was certainly not processed: no attempt is burned. One whose stream the network refuses
  /// again waits.
  func resend(_ run: ChunkRun, _ tag: PushTag, _ destination: Destination, isRefused: Bool) {
    let resends = run.noteResend(tag.push)
    guard resends <= (isRefused ? WorkerLimits.refusalsMax : WorkerLimits.resendsMax) else {
      // Those of other runs come back at other times.
      let delayMs =
        WorkerLimits.refusedDelayMs + run.jitter(attempt: 0) % WorkerLimits.refusedDelayMs
      return putAside(
        run, tag.push, delayMs: max(delayMs, destination.pauseMs ?? 0), because: .resendsUsedUp)
    }
    run.note(tag.push, .resend)
    queue(run, tag.push, destination)
  }

  /// Sends a push again whose credential the network refused: no attempt is burned, unless others go through with that
  /// credential and this push does not.
  func resendRefused(
    _ run: ChunkRun, _ tag: PushTag, _ destination: Destination, _ judgement: Judgement
  ) {
    if judgement.refusal == .isolated,
      Int(run.pushes[tag.push].resends) >= WorkerLimits.isolatedRefusalsMax
    {
      return retry(run, tag.push, afterMs: nil, lead: judgement.lead)
    }
    resend(run, tag, destination, isRefused: false)
  }

  /// Puts a push aside that its destination cannot take now: no attempt is burned. One that has been
  /// refused in its own environment was sent, though, so it is an attempt: its number has a bound. And one
  /// that may have broken a connection must not come back as if it had never been sent.
  func putAside(
    _ run: ChunkRun, _ index: Int, delayMs: UInt64, because cause: TraceCause? = nil
  ) {
    if run.pushes[index].isRedirected || run.quarantined.contains(index) {
      return retry(run, index, afterMs: delayMs)
    }
    // What waits for a network that never comes must still end.
    if isExpired(run) { return run.decide(index, .expired, because: .expired) }
    run.decideLater(
      index, delayMs: delayMs, attempt: Int(run.pushes[index].attempt) - 1,
      isHurried: isHurried(run, index, delayMs), because: cause)
  }

  /// Whether a push that is tried later may not wait for others of its chunk: it would expire, or those that it shared a
  /// request with come back without it, in chunks of their own.
  private func isHurried(_ run: ChunkRun, _ index: Int, _ delayMs: UInt64) -> Bool {
    if let number = run.pushes[index].route.number, destinations[number]?.batches != nil {
      return true
    }
    guard let expiresAtMs = run.material.expiresAtMs else { return false }
    let leftMs = UInt64(max(0, expiresAtMs - wallMs))
    return delayMs &+ delayMs / 2 >= leftMs
  }

  /// - Parameter lead: the run whose draw it takes: pushes of one request come back together. Nil for its own.
  func retry(_ run: ChunkRun, _ index: Int, afterMs: UInt64?, lead: ChunkRun? = nil) {
    let attempt = Int(run.pushes[index].attempt)
    guard run.material.allowsRetry else {
      return run.decide(index, .expired, because: .nowOrNever)
    }
    // One draw per run and attempt, so that a chunk's retries are one residual and not hundreds.
    let decision = policy.decide(
      attempt: attempt, retryAfterMs: afterMs, nowMs: wallMs,
      expiresAtMs: run.material.expiresAtMs, random: (lead ?? run).jitter(attempt: attempt))
    switch decision {
    case .retry(let delayMs):
      run.decideLater(
        index, delayMs: delayMs, attempt: attempt, isHurried: isHurried(run, index, delayMs))
    case .expired: run.decide(index, .expired, because: .expiresFirst)
    case .giveUp: run.decide(index, .failed, because: .attemptsUsedUp)
    }
  }

  /// When a push comes back that is tried again though that is no attempt of it: with those of its run whose attempt it was.
  func spreadMs(_ run: ChunkRun, _ index: Int, afterMs: UInt64?, lead: ChunkRun? = nil) -> UInt64 {
    let attempt = Int(run.pushes[index].attempt)
    return policy.delayMs(
      attempt: attempt, retryAfterMs: afterMs, random: (lead ?? run).jitter(attempt: attempt))
  }

  /// How long the network asks to wait, as far as that is believed: an hour at most. What asks for more is no plan, and so ends
  /// no push by its expiry: the push is tried again halfway to it.
  /// - Parameter run: of a push of the request; nil when none of them is awaited any more.
  func retryAfterSeconds(_ answer: RequestAnswer, _ run: ChunkRun?) -> Int? {
    let secondsMax = Int(Limits.retryAfterMsMax / 1_000)
    guard let seconds = answer.retryAfter.seconds(nowMs: wallMs), seconds > secondsMax else {
      return answer.retryAfter.seconds(nowMs: wallMs)
    }
    guard let run else { return secondsMax }
    reasons.note(
      "\(run.claim.app): an answer with status \(answer.status) asks to wait for more than an hour (Retry-After): "
        + "its push waits for an hour, or for half of its job's time where that is less")
    guard let expiresAtMs = run.material.expiresAtMs else { return secondsMax }
    return min(secondsMax, Int(max(0, expiresAtMs - wallMs) / 2_000))
  }
}
