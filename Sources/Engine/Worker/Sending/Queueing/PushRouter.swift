internal import Model
internal import Store

/// Leads each push into the queue of its destination, or puts it aside where it would only stand in the way; loop-bound.
final class PushRouter {
  private let destinations: DestinationTable
  private let gate: SendingGate
  private let rescheduling: Rescheduling
  private let isolation: Isolation
  private let reasons: ReasonLog

  init(
    destinations: DestinationTable, gate: SendingGate, rescheduling: Rescheduling,
    isolation: Isolation, reasons: ReasonLog
  ) {
    self.destinations = destinations
    self.gate = gate
    self.rescheduling = rescheduling
    self.isolation = isolation
    self.reasons = reasons
  }

  /// Where the pushes of a run go.
  func targets(_ run: PushRun) -> JobTargets { destinations.targets(run) }

  /// Queues a push, or decides it at once when it cannot be sent.
  func enqueue(_ run: PushRun, push index: Int) {
    guard let number = run.pushes[index].target.number else {
      return leaveToOthers(run, push: index)
    }
    let destination = destinations.destination(number)
    if let delayMs = destination.parkDelayMs(rank: run.claim.priority.rank) {
      return rescheduling.putAside(run, index, delayMs: delayMs, because: .parked)
    }
    if let delayMs = destination.heldMs(run.claim.job) {
      return rescheduling.hold(run, index, delayMs: delayMs, because: .parked)
    }
    if let delayMs = gate.heldMs(run, index) {
      return rescheduling.hold(run, index, delayMs: delayMs, because: .switchedOff)
    }
    if let delayMs = overflowMs(run, destination) {
      return rescheduling.putAside(run, index, delayMs: delayMs, because: .rateLimited)
    }
    // It was held back a moment ago, and so has no badge yet.
    if run.material.raisesBadge, run.pushes[index].badge == 0,
      run.material.content.showsRaisedBadge(on: destination.network), !run.material.content.dryRun
    {
      return rescheduling.putAside(run, index, delayMs: 0, because: .parked)
    }
    queue(run, index, destination)
  }

  /// Whether a push would be put aside instead of queued, as things stand.
  func holdsBack(
    _ run: PushRun, _ target: PushTarget, _ network: Network, _ user: UnsafeRawBufferPointer
  ) -> Bool {
    guard let number = target.number else { return true }
    let destination = destinations.destination(number)
    return destination.parkDelayMs(rank: run.claim.priority.rank) != nil
      || destination.heldMs(run.claim.job) != nil
      || overflowMs(run, destination) != nil
      || gate.heldMs(run, network, user) != nil
  }

  /// Puts a push aside whose job is held since it was queued.
  /// - Returns: whether it was put aside.
  func holdsBack(_ run: PushRun, push index: Int, _ destination: Destination) -> Bool {
    guard let delayMs = destination.heldMs(run.claim.job) else { return false }
    rescheduling.hold(run, index, delayMs: delayMs, because: .parked)
    return true
  }

  /// Queues a push, apart from the others when it is in quarantine.
  func queue(_ run: PushRun, _ index: Int, _ destination: Destination) {
    if !destination.quarantine.isEmpty, isolation.setApart(run, index, destination) { return }
    if let batches = destination.batches {
      return destination.gather(run, push: index, in: batches)
    }
    destination.enqueue(PushTag(run, push: index).raw, rank: run.claim.priority.rank)
  }

  /// Queues a push again that was certainly not processed: no attempt is burned. One whose stream the network refuses
  /// again waits.
  func resend(_ run: PushRun, _ tag: PushTag, _ destination: Destination, isRefused: Bool) {
    let resends = run.noteResend(tag.push)
    guard resends <= (isRefused ? WorkerLimits.refusalsMax : WorkerLimits.resendsMax) else {
      // Those of other runs come back at other times.
      let delayMs =
        WorkerLimits.refusedDelayMs + run.jitter(attempt: 0) % WorkerLimits.refusedDelayMs
      return rescheduling.putAside(
        run, tag.push, delayMs: max(delayMs, destination.pauseMs ?? 0), because: .resendsUsedUp)
    }
    run.note(tag.push, .resend)
    queue(run, tag.push, destination)
  }

  /// Sends what was queued, at the end of this turn.
  func wake() { destinations.wake() }

  /// For how long a push is set aside that would wait for a rate behind too many others; nil when it may be
  /// queued. What stands in a chunk of installations waits there, and is not set aside again and again.
  private func overflowMs(_ run: PushRun, _ destination: Destination) -> UInt64? {
    guard !destination.limits.isEmpty, run.claim.lines == .users,
      destination.isCongested(rank: run.claim.priority.rank, times: 2)
    else { return nil }
    return destination.limits.map { $0.setAsideMs() }.max()
  }

  /// Leaves a push to a worker that has credentials for it; where there is none, the push is skipped.
  private func leaveToOthers(_ run: PushRun, push index: Int) {
    if gate.isExpired(run) { return run.decide(index, .expired, because: .expired) }
    let push = run.pushes[index]
    reasons.note("\(run.claim.app) has no credentials for \(push.network.rawValue) on this worker")
    run.decideUnrouted(index, for: push.environment, attempt: Int(push.attempt) - 1)
  }
}
