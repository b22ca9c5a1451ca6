internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Decides about a claimed chunk: it is carried, handed back, left to another worker, or buried; loop-bound.
final class ChunkStarter {
  private let context: LaneContext
  private let materials: MaterialStore
  private let runs: RunTable
  private let gate: SendingGate
  private let congestion: RateCongestion
  /// Called with the place of a run that is to be carried from now on.
  var onBegun: (Int) -> Void = { _ in preconditionFailure("nobody carries what is begun") }

  init(
    _ context: LaneContext, materials: MaterialStore, runs: RunTable, gate: SendingGate,
    congestion: RateCongestion
  ) {
    self.context = context
    self.materials = materials
    self.runs = runs
    self.gate = gate
    self.congestion = congestion
  }

  /// Begins a chunk, unless the lane has it, or had it since it asked for it.
  func begin(_ claim: ChunkClaim) async throws(RedisError) {
    if runs.knows(claim) { return }
    let finding = try await materials.find(claim)
    if runs.knows(claim) { return }
    if case .unusable(let reason, let message) = finding {
      return try await bury(claim, reason: reason, message: message)
    }
    // A chunk without a job goes away by being handed back.
    guard case .material(let material) = finding, runs.freeSlot != nil, !context.life.isDraining
    else {
      return try await handBack(claim, delayMs: 1_000)
    }
    if try await passOn(claim, material) { return }
    if let delayMs = gate.parkedMs(claim, material) {
      noteDeferral(of: claim, material, because: .parked)
      return try await handBack(claim, delayMs: delayMs)
    }
    if let delayMs = congestion.crowdedMs(claim) {
      return try await handBack(claim, delayMs: delayMs)
    }
    // The functions hold what is off, so this was on when it was claimed: it may be on again.
    if gate.switches.stops(
      app: claim.app, bucket: material.bucket, topic: material.topic)
    {
      try await context.switches.read()
    }
    if runs.knows(claim) { return }
    guard let slot = runs.freeSlot else { return try await handBack(claim, delayMs: 0) }
    var poisonTicket: UInt64?
    if claim.crashes >= WorkerLimits.poisonCrashesMin {
      poisonTicket = context.shared.poisonGate.enter(nowNs: context.loop.nowNs)
      guard poisonTicket != nil else {
        return try await handBack(claim, delayMs: WorkerLimits.poisonPauseMs)
      }
    }
    let run = PushRun(claim, material, slot: slot, loop: context.loop)
    runs.add(ChunkRun(run, poisonTicket: poisonTicket))
    // Redis was asked in between: the drain that began meanwhile has not seen this run.
    if context.life.isDraining || gate.isStopped(run) { run.change(to: .paused) }
    onBegun(slot)
  }

  private func handBack(_ claim: ChunkClaim, delayMs: UInt64) async throws(RedisError) {
    try await context.store.chunks.handBack(
      [claim], consumer: context.settings.consumer, delayMs: delayMs)
  }

  /// Has a chunk whose app this worker does not have wait for another, unless it has expired: that any can count.
  /// - Returns: whether it waits.
  private func passOn(_ claim: ChunkClaim, _ material: JobMaterial) async throws(RedisError) -> Bool
  {
    guard !context.snapshot.routes.has(claim.app), !gate.isExpired(material) else {
      return false
    }
    context.reasons.note(
      "\(claim.app) is not in this worker's configuration: its work is left to others")
    noteDeferral(of: claim, material, because: .otherWorker)
    try await context.store.routes.passOn(
      claim, consumer: context.settings.consumer, waitMs: context.snapshot.rules.unroutedMs)
    return true
  }

  /// Records that a chunk is left for later as a whole.
  private func noteDeferral(
    of claim: ChunkClaim, _ material: JobMaterial, because cause: TraceCause
  ) {
    guard let trace = material.trace else { return }
    var line = JobTrace.line(.decided)
    line.decision = .deferred
    line.cause = cause
    line.count = claim.recipients.withUnsafeBytes {
      SegmentLines($0).reduce(0) { sum, _ in sum + 1 }
    }
    trace.record(line)
  }

  private func bury(
    _ claim: ChunkClaim, reason: String, message: String
  ) async throws(RedisError) {
    let wasOurs = try await context.store.chunks.bury(
      claim, reason: reason, message: message, consumer: context.settings.consumer)
    guard wasOurs else { return }
    context.log.error(
      "\(message)",
      metadata: ["app": "\(claim.app)", "job": "\(claim.job)", "dead_letter": "\(reason)"])
  }
}
