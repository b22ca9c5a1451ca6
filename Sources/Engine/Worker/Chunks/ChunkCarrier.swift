internal import Logging
internal import Reactor
internal import Redis
internal import Store

/// Carries chunks to their end: has their recipients resolved as there is room, checkpoints what is done, and settles them,
/// or hands them back when they may not go on. Keeps nothing itself; loop-bound.
final class ChunkCarrier {
  private let context: LaneContext
  private let runs: RunTable
  private let room: SendingRoom
  private let gate: SendingGate
  private let resolver: BindingResolver
  private let leases: LeaseKeeper
  private let onRoom: () -> Void

  /// - Parameter onRoom: called when a chunk has ended.
  init(
    _ context: LaneContext, runs: RunTable, room: SendingRoom, gate: SendingGate,
    resolver: BindingResolver, leases: LeaseKeeper, onRoom: @escaping () -> Void
  ) {
    self.context = context
    self.runs = runs
    self.room = room
    self.gate = gate
    self.resolver = resolver
    self.leases = leases
    self.onRoom = onRoom
  }

  /// Returns once the chunk has ended, or is not this lane's any more.
  func carry(_ chunk: ChunkRun) async {
    while await step(chunk) {
      if runs.letLinger(chunk, orIf: room.waitsInSilence(chunk)) { context.fetchSignal.raise() }
      await chunk.run.signal.wait(
        upToMs: min(chunk.run.settleWithinMs, chunk.paceWaitMs ?? .max))
    }
    release(chunk)
  }

  /// Ends a chunk whose last news were taken.
  func end(_ chunk: ChunkRun, telling news: Settlement) async {
    await tell(chunk, news)
    release(chunk)
  }

  private func release(_ chunk: ChunkRun) {
    runs.remove(chunk.run)
    onRoom()
    if let ticket = chunk.poisonTicket { context.shared.poisonGate.leave(ticket) }
    context.fetchSignal.raise()
  }

  /// Does what can be done for a chunk now.
  /// - Returns: whether it goes on.
  func step(_ chunk: ChunkRun) async -> Bool {
    let run = chunk.run
    // Nothing more is sent of it, so whose the devices are by now need not be asked: Redis may be away for long.
    if run.standing != .active { gate.endStaleBindings(run) }
    do throws(RedisError) {
      if run.wantsResolving || run.hasStaleBindings { try await context.switches.readIfOld() }
      let stale = run.takeStaleBindings()
      if !stale.isEmpty { try await verify(chunk, stale) }
      while room.mayResolve(chunk) && !context.life.isDraining {
        guard try await keepsPace(chunk) else { break }
        try await resolve(chunk)
        // The next chunk is claimed while this one's last recipients are on their way.
        if run.isResolved { context.fetchSignal.raise() }
      }
    } catch {
      context.reasons.note(
        "reading bindings of \(run.claim.app) fails and is tried again: \(error)")
      await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
    }
    if run.standing == .stale { return run.openPushes > 0 }
    if run.isFinished {
      await settle(chunk, isFinal: true)
      return false
    }
    if run.hasNews { await settle(chunk, isFinal: false) }
    if runs.isToBePassed(chunk) { await settle(chunk, isFinal: false, onlyWaits: true) }
    // Answers that came during the settling are settled first: what is handed back is sent again.
    if run.standing == .paused && run.openPushes == 0 && !run.hasNews {
      await handBack(chunk)
      return false
    }
    // Pushes that wait for Redis and not for an answer keep nobody who is to leave at once.
    return !context.life.isAborting || run.inFlight > 0 || run.hasNews
  }

  // MARK: Resolving

  /// Draws what a chunk's job may make of pushes now. - Returns: whether something may be resolved.
  private func keepsPace(_ chunk: ChunkRun) async throws(RedisError) -> Bool {
    guard let pace = chunk.pace, !pace.allows else { return true }
    let run = chunk.run
    if gate.isExpired(run) {
      // Nothing more of it is sent, so nothing has to be spread.
      chunk.pace = nil
      return true
    }
    guard pace.waitMs(nowNs: context.loop.nowNs) == 0 else { return false }
    let wanted = min(run.lines.count - run.cursor, room.resolveBatch) - pace.allowance
    let answer = try await context.store.jobs.drawPace(
      app: run.claim.app, id: run.claim.job, wanted: wanted)
    chunk.pace?.grant(answer.granted, retryMs: answer.retryMs, nowNs: context.loop.nowNs)
    return run.wantsResolving && chunk.pace?.allows ?? true
  }

  private func resolve(_ chunk: ChunkRun) async throws(RedisError) {
    let before = chunk.run.made
    defer { chunk.pace?.spend(chunk.run.made - before) }
    try await resolver.resolveNext(chunk.run, atMost: chunk.pace?.allowance ?? .max)
  }

  /// Reads old bindings again; after a silence of half a lease, asks first whether the chunk is still ours.
  private func verify(_ chunk: ChunkRun, _ pushes: [Int]) async throws(RedisError) {
    if isRenewalDue(chunk) { await leases.renew([chunk]) }
    guard !isRenewalDue(chunk) else { return chunk.run.keepStaleBindings(pushes) }
    do throws(RedisError) {
      try await resolver.verify(chunk.run, pushes)
    } catch {
      chunk.run.keepStaleBindings(pushes)
      throw error
    }
  }

  private func isRenewalDue(_ chunk: ChunkRun) -> Bool {
    context.loop.nowNs &- chunk.renewedNs >= context.settings.leaseMs / 2 * 1_000_000
  }

  // MARK: Settling

  /// Tells the store what is done, until it has heard it. A call whose reply was lost may be repeated: the
  /// store knows a bitmap that it has seen, and a chunk that was finished is nobody's any more.
  private func settle(_ chunk: ChunkRun, isFinal: Bool, onlyWaits: Bool = false) async {
    var news = chunk.run.takeNews(isFinal: isFinal)
    news.onlyWaits = onlyWaits
    await tell(chunk, news)
  }

  private func tell(_ chunk: ChunkRun, _ news: Settlement) async {
    let run = chunk.run
    var news = news
    news.unroutedMs = context.snapshot.rules.unroutedMs
    if news.isFinal { run.finishTrace() }
    guard run.standing != .stale else { return }
    while true {
      do throws(RedisError) {
        let answer = try await context.store.chunks.settle(
          chunk.claim, news, consumer: context.settings.consumer)
        chunk.noteRenewal()
        run.confirmNews()
        run.trace.noteFates(news, answer)
        run.trace.noteSkipped(news, answer)
        gate.apply(answer.standing, run)
        report(answer, of: chunk.claim)
        return
      } catch {
        context.reasons.note("settling waits for Redis: \(error)")
        if context.life.isForsaking { return run.abandon() }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  private func report(_ answer: SettleAnswer, of claim: ChunkClaim) {
    if answer.kept > 0 {
      context.log.info(
        "bindings kept: they changed after the push was sent",
        metadata: ["job": "\(claim.job)", "count": "\(answer.kept)"])
    }
    if answer.lost > 0 {
      context.log.error(
        "the users of a job cannot be read any more: those not read yet count as failed (pushpool dead list)",
        metadata: [
          "app": "\(claim.app)", "job": "\(claim.job)", "count": "\(answer.lost)",
        ])
    }
    for place in answer.massDeaths { reportMassDeath(claim.app, place) }
  }

  private func reportMassDeath(_ app: String, _ place: String) {
    context.reasons.note(
      "\(app): so many device tokens of \(place) do not fit their environment, topic or sender that no "
        + "installation is removed; check the configuration (see pushpool status)", level: .error)
  }

  private func handBack(_ chunk: ChunkRun) async {
    let run = chunk.run
    // What is off and whose chunk has expired by Redis' clock and not by ours would come back at once.
    let isOff = gate.isSwitchedOff(run)
    if isOff { run.trace.noteSwitchedOff(recipients: run.openRecipients) }
    run.finishTrace()
    while true {
      do throws(RedisError) {
        try await context.store.chunks.handBack(
          [chunk.claim], consumer: context.settings.consumer,
          delayMs: isOff ? WorkerLimits.stoppedChunkDelayMs : 0)
        return
      } catch {
        context.log.debug("hand back: \(error)")
        if context.life.isForsaking { return }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }
}
