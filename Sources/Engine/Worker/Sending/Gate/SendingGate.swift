internal import Logging
internal import Model
internal import Store

/// Whether pushes may be sent: their run goes on, their time is not over, nobody has switched them off, and whose their tokens
/// are was read lately. Takes back what may not be sent any more; loop-bound.
final class SendingGate {
  /// Why a push is not to be submitted.
  enum Hindrance: Equatable {
    case cancelled, takenOver, paused, expired
    /// The push is switched off, and comes back after so long.
    case switchedOff(delayMs: UInt64)
    /// The token may be somebody else's by now: its binding is read again before it is sent.
    case oldBinding
  }

  private let clock: LaneClock
  private let runs: RunTable
  private let destinations: DestinationTable
  private let log: Logger
  /// The switches that are off.
  private(set) var switches = Switches()

  init(clock: LaneClock, runs: RunTable, destinations: DestinationTable, log: Logger) {
    self.clock = clock
    self.runs = runs
    self.destinations = destinations
    self.log = log
  }

  // MARK: Single pushes

  /// Returns what keeps a push from being submitted now; nil when nothing does.
  func hindrance(_ run: PushRun, _ index: Int) -> Hindrance? {
    switch run.standing {
    case .active: break
    case .cancelled: return .cancelled
    case .stale: return .takenOver
    case .paused: return .paused
    }
    if let expiresAtMs = run.material.expiresAtMs, clock.wallMs >= expiresAtMs { return .expired }
    if !switches.isEmpty, let delayMs = heldMs(run, index) {
      return .switchedOff(delayMs: delayMs)
    }
    let ageNs = clock.nowNs &- run.pushes[index].boundNs
    return ageNs <= WorkerLimits.bindingAgeMsMax &* 1_000_000 ? nil : .oldBinding
  }

  /// Decides a push that is not submitted, or has its binding read again.
  func withdraw(_ run: PushRun, _ index: Int, because hindrance: Hindrance) {
    let attempt = Int(run.pushes[index].attempt) - 1
    switch hindrance {
    case .cancelled: run.decide(index, .skipped, because: .cancelled)
    case .takenOver: run.decide(index, .skipped, because: .takenOver)
    case .paused: run.decideLater(index, delayMs: 0, attempt: attempt, because: .paused)
    case .expired: run.decide(index, .expired, because: .expired)
    case .switchedOff(let delayMs): run.decideLater(index, delayMs: delayMs, attempt: attempt)
    case .oldBinding: run.noteStaleBinding(index)
    }
  }

  /// Decides those of a run's pushes with old bindings whose run may not send any more.
  func endStaleBindings(_ run: PushRun) {
    for index in run.takeStaleBindings() {
      if let hindrance = hindrance(run, index) { withdraw(run, index, because: hindrance) }
    }
  }

  // MARK: Time

  /// Whether the time of a run's job is over.
  func isExpired(_ run: PushRun) -> Bool { isExpired(run.material) }

  func isExpired(_ material: JobMaterial) -> Bool {
    material.expiresAtMs.map { clock.wallMs >= $0 } ?? false
  }

  // MARK: Switches

  /// Whether a run's whole app is off, its bucket or its topic.
  func isSwitchedOff(_ run: PushRun) -> Bool {
    switches.stops(
      app: run.claim.app, bucket: run.material.bucket, topic: run.material.topic)
  }

  /// Whether a run is to be handed back because it is switched off. What has expired goes on, to be counted.
  func isStopped(_ run: PushRun) -> Bool { isSwitchedOff(run) && !isExpired(run) }

  /// For how long a push is set aside because it is switched off; nil when it is not.
  func heldMs(_ run: PushRun, _ index: Int) -> UInt64? {
    guard !switches.isEmpty else { return nil }
    return heldMs(run, run.pushes[index].network, run.pushes[index].user)
  }

  func heldMs(
    _ run: PushRun, _ network: Network, _ user: UnsafeRawBufferPointer
  ) -> UInt64? {
    guard !switches.isEmpty else { return nil }
    let app = run.claim.app
    if isSwitchedOff(run) || switches.stops(app: app, network) {
      return isExpired(run) ? nil : WorkerLimits.stoppedDelayMs
    }
    if switches.stops(app: app, user: user) {
      return isExpired(run) ? nil : WorkerLimits.stoppedUserDelayMs
    }
    return nil
  }

  /// Applies what is switched off from now on, also for what is in hand.
  func apply(_ switches: Switches) {
    self.switches = switches
    withdrawStopped()
  }

  /// Takes what is switched off out of the queues, and stops the runs of apps, buckets and topics that are.
  private func withdrawStopped() {
    guard !switches.isEmpty else { return }
    for run in runs.all where isStopped(run) { run.change(to: .paused) }
    withdrawUnsendable()
    destinations.filterQueues { tag in
      guard let run = runs[tag] else { return false }
      guard let delayMs = heldMs(run, tag.push) else { return true }
      run.decideLater(
        tag.push, delayMs: delayMs, attempt: Int(run.pushes[tag.push].attempt) - 1)
      return false
    }
  }

  // MARK: Runs

  /// Does to a run what the store says of it.
  func apply(_ standing: WorkStanding, _ run: PushRun) {
    switch standing {
    case .ok: return
    case .paused: run.change(to: .paused)
    case .cancelled: run.change(to: .cancelled)
    case .stale:
      if run.standing == .active {
        log.notice(
          "a chunk is not this worker's any more: what it still sent of it is not counted here",
          metadata: ["app": "\(run.claim.app)", "job": "\(run.claim.job)"])
      }
      run.change(to: .stale)
    }
    withdrawUnsendable()
  }

  /// Sends nothing more of the chunks in hand: what is not in flight is handed back.
  func pauseAll() {
    for run in runs.all { run.change(to: .paused) }
    withdrawUnsendable()
  }

  /// Takes the pushes of runs that may not send any more out of the queues.
  func withdrawUnsendable() {
    destinations.filterQueues { tag in
      guard let run = runs[tag] else { return false }
      guard run.standing != .active, let hindrance = hindrance(run, tag.push) else { return true }
      withdraw(run, tag.push, because: hindrance)
      return false
    }
  }

  /// For how long a chunk is to stay away because its job goes to nobody who can be sent to now: all of its pushes would be
  /// put aside one by one. nil when some would be sent, or when it has expired.
  func parkedMs(_ claim: ChunkClaim, _ material: JobMaterial) -> UInt64? {
    guard !isExpired(material) else { return nil }
    return destinations.parkDelayMs(of: claim, material.content)
  }
}
