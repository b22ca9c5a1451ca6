internal import Model
internal import Providers
internal import Store

/// When pushes come back that are not sent now: as another attempt, or as if they had not been tried; loop-bound.
final class Rescheduling {
  private let policy = RetryPolicy()
  private let clock: LaneClock
  private let runs: RunTable
  private let destinations: DestinationTable
  private let gate: SendingGate
  private let reasons: ReasonLog

  init(
    clock: LaneClock, runs: RunTable, destinations: DestinationTable, gate: SendingGate,
    reasons: ReasonLog
  ) {
    self.clock = clock
    self.runs = runs
    self.destinations = destinations
    self.gate = gate
    self.reasons = reasons
  }

  /// Puts pushes aside that a destination cannot take for so long.
  func putAside(_ tags: [UInt64], of destination: Destination, forMs delayMs: UInt64) {
    // The breaker has said why by itself.
    if destination.health.breaker.state == .closed && !destination.lacksDescriptors
      && !destination.isRetired
    {
      reasons.note(
        "\(destination.app): \(destination.provider.network.rawValue) cannot be reached, does not answer "
          + "or refuses the credential: its pushes wait"
          + (destination.hindrance(nowMs: clock.wallMs).map { " (\($0))" } ?? ""))
    }
    for raw in tags {
      let tag = PushTag(raw)
      guard let run = runs[tag] else { continue }
      putAside(run, tag.push, delayMs: delayMs, because: .parked)
    }
  }

  /// Puts a push aside that its destination cannot take now: no attempt is burned. One that has been
  /// refused in its own environment was sent, though, so it is an attempt: its number has a bound. And one
  /// that may have broken a connection must not come back as if it had never been sent.
  func putAside(
    _ run: PushRun, _ index: Int, delayMs: UInt64, because cause: TraceCause? = nil
  ) {
    if run.pushes[index].isRedirected { return retry(run, index, afterMs: delayMs) }
    hold(run, index, delayMs: delayMs, because: cause)
  }

  /// Puts a push aside that is switched off, or whose job is held: no attempt is burned. One that has been refused in its own
  /// environment comes back for the other one, so nothing is sent of it meanwhile.
  func hold(
    _ run: PushRun, _ index: Int, delayMs: UInt64, because cause: TraceCause? = nil
  ) {
    if run.quarantined.contains(index) { return retry(run, index, afterMs: delayMs) }
    // What waits for a network that never comes must still end.
    if gate.isExpired(run) { return run.decide(index, .expired, because: .expired) }
    run.decideLater(
      index, delayMs: delayMs, attempt: Int(run.pushes[index].attempt) - 1,
      isHurried: isHurried(run, index, delayMs), because: cause)
  }

  /// Whether a push that is tried later may not wait for others of its chunk: it would expire, or those that it shared a
  /// request with come back without it, in chunks of their own.
  private func isHurried(_ run: PushRun, _ index: Int, _ delayMs: UInt64) -> Bool {
    if let number = run.pushes[index].target.number, destinations[number]?.batches != nil {
      return true
    }
    guard let expiresAtMs = run.material.expiresAtMs else { return false }
    let leftMs = UInt64(max(0, expiresAtMs - clock.wallMs))
    return delayMs &+ delayMs / 2 >= leftMs
  }

  /// Has a push come back as another attempt, or ends it when that was the last one.
  /// - Parameter lead: the run whose draw it takes: pushes of one request come back together. Nil for its own.
  func retry(_ run: PushRun, _ index: Int, afterMs: UInt64?, lead: PushRun? = nil) {
    let attempt = Int(run.pushes[index].attempt)
    guard run.material.allowsRetry else {
      return run.decide(index, .expired, because: .nowOrNever)
    }
    // One draw per run and attempt, so that a chunk's retries are one residual and not hundreds.
    let decision = policy.decide(
      attempt: attempt, retryAfterMs: afterMs, nowMs: clock.wallMs,
      expiresAtMs: run.material.expiresAtMs, random: (lead ?? run).jitter(attempt: attempt))
    switch decision {
    case .retry(let delayMs):
      run.decideLater(
        index, delayMs: delayMs, attempt: attempt, isHurried: isHurried(run, index, delayMs))
    case .expired: run.decide(index, .expired, because: .expiresFirst)
    case .giveUp: run.decide(index, .failed, because: .attemptsUsedUp)
    }
  }

  /// Whether a push has as many attempts behind it as it may have.
  func isLastAttempt(_ run: PushRun, _ index: Int) -> Bool {
    Int(run.pushes[index].attempt) >= policy.attemptsMax
  }

  /// When a push comes back that is tried again though that is no attempt of it: with those of its run whose attempt it was.
  func spreadMs(_ run: PushRun, _ index: Int, afterMs: UInt64?, lead: PushRun? = nil) -> UInt64 {
    let attempt = Int(run.pushes[index].attempt)
    return policy.delayMs(
      attempt: attempt, retryAfterMs: afterMs, random: (lead ?? run).jitter(attempt: attempt))
  }
}
