internal import Logging
internal import Model
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
  private let onQuiet: (ChunkRun) -> Void
  private let onRoom: () -> Void

  /// - Parameters:
  ///   - onQuiet: called with a run that needs no task while it waits for answers.
  ///   - onRoom: called when a run has ended, or has become a chunk.
  init(
    _ context: LaneContext, runs: RunTable, room: SendingRoom, gate: SendingGate,
    resolver: BindingResolver, leases: LeaseKeeper, onQuiet: @escaping (ChunkRun) -> Void,
    onRoom: @escaping () -> Void
  ) {
    self.context = context
    self.runs = runs
    self.room = room
    self.gate = gate
    self.resolver = resolver
    self.leases = leases
    self.onQuiet = onQuiet
    self.onRoom = onRoom
  }

  /// Returns once the run has ended, or needs no task any more.
  func carry(_ run: ChunkRun) async {
    if let news = run.untold {
      await tell(run, news)
    } else {
      while await step(run) {
        if run.isQuiet { return onQuiet(run) }
        if runs.letLinger(run) { context.fetchSignal.raise() }
        await run.signal.wait(upToMs: min(run.settleWithinMs, paceWaitMs(run) ?? .max))
      }
    }
    release(run)
  }

  private func release(_ run: ChunkRun) {
    runs.remove(run)
    onRoom()
    if let ticket = run.poisonTicket { context.settings.poisonGate.leave(ticket) }
    // What was no chunk made room for none, but for the last of it.
    if run.direct == nil || runs.count == 0 { context.fetchSignal.raise() }
  }

  /// Does what can be done for a run now.
  /// - Returns: whether the run goes on.
  func step(_ run: ChunkRun) async -> Bool {
    // Nothing more is sent of it, so whose the devices are by now need not be asked: Redis may be away for long.
    if run.standing != .active { gate.endStaleBindings(run) }
    if run.isOverdue { await admit(run) }
    do throws(RedisError) {
      if run.wantsResolving || run.hasStaleBindings { try await context.switches.readIfOld() }
      let stale = run.takeStaleBindings()
      if !stale.isEmpty { try await verify(run, stale) }
      while room.mayResolve(run) && !context.life.isDraining {
        guard try await keepsPace(run) else { break }
        try await resolver.resolveNext(run)
        // The next chunk is claimed while this one's last recipients are on their way.
        if run.isResolved, run.direct == nil { context.fetchSignal.raise() }
      }
    } catch {
      context.reasons.note(
        "reading bindings of \(run.claim.app) fails and is tried again: \(error)")
      await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
    }
    if run.standing == .stale { return run.openPushes > 0 }
    if run.isQuiet { return true }
    if run.isFinished {
      await settle(run, isFinal: true)
      return false
    }
    if run.hasNews { await settle(run, isFinal: false) }
    if runs.isToBePassed(run) { await settle(run, isFinal: false, onlyWaits: true) }
    // Answers that came during the settling are settled first: what is handed back is sent again.
    if run.standing == .paused && run.openPushes == 0 && !run.hasNews {
      await handBack(run)
      return false
    }
    // Pushes that wait for Redis and not for an answer keep nobody who is to leave at once.
    return !context.life.isAborting || run.inFlight > 0 || run.hasNews
  }

  /// How long a run waits for its job's pace; nil when it does not.
  private func paceWaitMs(_ run: ChunkRun) -> UInt64? {
    guard run.wantsResolving, let pace = run.pace, !pace.allows else { return nil }
    return max(1, pace.waitMs(nowNs: context.loop.nowNs))
  }

  /// Draws what a run's job may make of pushes now. - Returns: whether something may be resolved.
  private func keepsPace(_ run: ChunkRun) async throws(RedisError) -> Bool {
    guard let pace = run.pace, !pace.allows else { return true }
    if gate.isExpired(run) {
      // Nothing more of it is sent, so nothing has to be spread.
      run.pace = nil
      return true
    }
    guard pace.waitMs(nowNs: context.loop.nowNs) == 0 else { return false }
    let wanted = min(run.lines.count - run.cursor, room.resolveBatch) - pace.allowance
    let answer = try await context.store.rates.drawPace(
      app: run.claim.app, job: run.claim.job, wanted: wanted)
    run.pace?.grant(answer.granted, retryMs: answer.retryMs, nowNs: context.loop.nowNs)
    return run.wantsResolving && run.pace?.allows ?? true
  }

  /// Reads old bindings again; after a silence of half a lease, asks first whether the chunk is still ours.
  private func verify(_ run: ChunkRun, _ pushes: [Int]) async throws(RedisError) {
    if isRenewalDue(run) { await leases.renew([run]) }
    guard !isRenewalDue(run) else { return run.keepStaleBindings(pushes) }
    do throws(RedisError) {
      try await resolver.verify(run, pushes)
    } catch {
      run.keepStaleBindings(pushes)
      throw error
    }
  }

  private func isRenewalDue(_ run: ChunkRun) -> Bool {
    context.loop.nowNs &- run.renewedNs >= context.settings.leaseMs / 2 * 1_000_000
  }

  /// Tells the store what is done, until it has heard it. A call whose reply was lost may be repeated: the
  /// store knows a bitmap that it has seen, and a chunk that was finished is nobody's any more.
  private func settle(_ run: ChunkRun, isFinal: Bool, onlyWaits: Bool = false) async {
    if !isFinal { await admit(run) }
    var news = run.takeNews(isFinal: isFinal)
    news.onlyWaits = onlyWaits
    await tell(run, news)
  }

  private func tell(_ run: ChunkRun, _ news: Settlement) async {
    var news = news
    news.unroutedMs = context.settings.unroutedMs
    if news.isFinal { run.finishTrace() }
    await admit(run)
    guard run.standing != .stale else { return }
    while true {
      do throws(RedisError) {
        let answer = try await context.store.chunks.settle(
          run.claim, news, consumer: context.settings.consumer)
        run.noteRenewal()
        run.confirmNews()
        run.noteFates(news, answer)
        run.noteSkipped(news, answer)
        gate.apply(answer.standing, run)
        if answer.kept > 0 {
          context.log.info(
            "bindings kept: they changed after the push was sent",
            metadata: ["job": "\(run.claim.job)", "count": "\(answer.kept)"])
        }
        if answer.lost > 0 {
          context.log.error(
            "the users of a job cannot be read any more: those not read yet count as failed (pushpool dead list)",
            metadata: [
              "app": "\(run.claim.app)", "job": "\(run.claim.job)", "count": "\(answer.lost)",
            ])
        }
        for place in answer.massDeaths { reportMassDeath(run.claim.app, place) }
        return
      } catch {
        context.reasons.note("settling waits for Redis: \(error)")
        if context.life.isForsaking { return run.abandon() }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  // MARK: Jobs that are sent from their entries

  /// Makes a chunk of one, until the store has heard it; does nothing for a chunk.
  private func admit(_ run: ChunkRun) async {
    while let job = run.direct, run.standing != .stale {
      do throws(RedisError) {
        if let claim = try await context.store.jobs.admit(
          begun: job, content: run.material.content.canonicalBytes(),
          startedAtMs: run.begunAtMs, consumer: context.settings.consumer),
          // After a lost reply the lane may have been given the chunk meanwhile.
          !runs.isCarrying(claim)
        {
          runs.become(run, claim)
          onRoom()
        } else {
          gate.apply(.stale, run)
          run.abandon()
        }
      } catch {
        context.reasons.note("settling waits for Redis: \(error)")
        if context.life.isForsaking { return run.abandon() }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  private func reportMassDeath(_ app: String, _ place: String) {
    context.reasons.note(
      "\(app): so many device tokens of \(place) do not fit their environment, topic or sender that no "
        + "installation is removed; check the configuration (see pushpool status)", level: .error)
  }

  private func handBack(_ run: ChunkRun) async {
    await admit(run)
    // What is off and whose chunk has expired by Redis' clock and not by ours would come back at once.
    let isOff = gate.isSwitchedOff(run)
    if isOff { run.noteSwitchedOff() }
    run.finishTrace()
    while true {
      do throws(RedisError) {
        try await context.store.chunks.handBack(
          [run.claim], consumer: context.settings.consumer,
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
