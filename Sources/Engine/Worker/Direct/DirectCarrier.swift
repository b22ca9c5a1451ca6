internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Carries jobs that are sent from their entries. While there is nothing to do for them but to wait for answers no task waits
/// with any of them, and those that end in one turn of the loop, or while Redis is asked, are told together. Whatever else
/// happens to one, a task goes on with it, and makes a chunk of one that lasts; loop-bound.
final class DirectCarrier: RunAttendant {
  private let context: LaneContext
  private let runs: RunTable
  private let room: SendingRoom
  private let gate: SendingGate
  private let resolver: BindingResolver
  private let chunks: ChunkCarrier
  private let onResolved: (PushRun) -> Void
  private let onRoom: () -> Void
  /// Called when a task is to tell of those that have ended, by `endReady`.
  var onReady: () -> Void = { preconditionFailure("nobody tells of what has ended") }
  /// Called with the place of a run that a task is to carry on.
  var onHandedOn: (Int) -> Void = { _ in preconditionFailure("nobody carries what is handed on") }

  private var finished = EndedRuns()
  /// The last news of runs that a task is to tell as those of chunks, by place.
  private(set) var untold: [Int: Settlement] = [:]
  private var timer: LoopTimer?
  private var isTimed = false

  /// - Parameters:
  ///   - chunks: carries those that have become chunks.
  ///   - onResolved: called with a run that was begun and has its pushes.
  ///   - onRoom: called when a run has ended, or has become a chunk.
  init(
    _ context: LaneContext, runs: RunTable, room: SendingRoom, gate: SendingGate,
    resolver: BindingResolver, chunks: ChunkCarrier, onResolved: @escaping (PushRun) -> Void,
    onRoom: @escaping () -> Void
  ) {
    self.context = context
    self.runs = runs
    self.room = room
    self.gate = gate
    self.resolver = resolver
    self.chunks = chunks
    self.onResolved = onResolved
    self.onRoom = onRoom
  }

  // MARK: Beginning

  /// Begins to send a job from its entry, for which there is room: at once when its users' bindings are here.
  /// - Parameter atMs: epoch milliseconds by Redis's clock.
  func begin(_ job: DirectJob, _ material: JobMaterial, atMs: Int64) {
    guard let slot = runs.freeSlot else { preconditionFailure("no place for a direct job") }
    let run = PushRun(job.claim, material, slot: slot, loop: context.loop)
    let direct = DirectRun(run, job, begunAtMs: atMs)
    runs.add(direct)
    if context.life.isDraining || gate.isStopped(run) { run.change(to: .paused) }
    let mayResolve =
      room.mayResolve(direct) && !context.life.isDraining && !context.switches.isOld
    if mayResolve { resolver.resolveKnown(run) }
    if run.isResolved { onResolved(run) }
    if direct.isQuiet { attend(direct) } else { onHandedOn(slot) }
  }

  // MARK: With a task

  /// The rest that a step leaves for a run's task.
  enum Rest {
    /// The run has ended, or needs no task to wait for its answers.
    case nothing
    /// To wait until something happens to it.
    case waiting
    /// To carry the chunk that it has become.
    case chunk(ChunkRun)
  }

  /// Returns once the run, or the chunk that it became, has ended, or once it needs no task any more.
  func carry(_ direct: DirectRun) async {
    if let news = untold.removeValue(forKey: direct.slot) {
      guard let chunk = await admit(direct) else { return release(direct) }
      return await chunks.end(chunk, telling: news)
    }
    while true {
      switch await step(direct) {
      case .nothing: return
      case .waiting: await direct.run.signal.wait(upToMs: direct.run.settleWithinMs)
      case .chunk(let chunk): return await chunks.carry(chunk)
      }
    }
  }

  /// Does what can be done for a run now.
  func step(_ direct: DirectRun) async -> Rest {
    let run = direct.run
    while true {
      // Nothing more is sent of it, so whose the devices are by now need not be asked: Redis may be away for long.
      if run.standing != .active { gate.endStaleBindings(run) }
      if direct.isOverdue, let chunk = await admit(direct) { return .chunk(chunk) }
      await resolve(direct)
      let goesOn: Bool
      if run.standing == .stale {
        goesOn = run.openPushes > 0
      } else if direct.isQuiet {
        attend(direct)
        return .nothing
      } else if direct.isOverdue {
        // Something happened to it while Redis was asked.
        continue
      } else {
        // Pushes that wait for Redis and not for an answer keep nobody who is to leave at once.
        goesOn = !context.life.isAborting || run.inFlight > 0
      }
      if goesOn { return .waiting }
      release(direct)
      return .nothing
    }
  }

  /// Has more of a run's recipients resolved, as far as there is room.
  private func resolve(_ direct: DirectRun) async {
    let run = direct.run
    do throws(RedisError) {
      if run.wantsResolving { try await context.switches.readIfOld() }
      while room.mayResolve(direct) && !context.life.isDraining {
        try await resolver.resolveNext(run)
      }
    } catch {
      context.reasons.note(
        "reading bindings of \(run.claim.app) fails and is tried again: \(error)")
      await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
    }
  }

  /// Makes a chunk of a run, until the store has heard it. - Returns: nil when it is not this lane's any more.
  private func admit(_ direct: DirectRun) async -> ChunkRun? {
    let run = direct.run
    while run.standing != .stale {
      do throws(RedisError) {
        if let claim = try await context.store.jobs.direct.admit(
          begun: direct.job, content: run.material.content.canonicalBytes(),
          startedAtMs: direct.begunAtMs, consumer: context.settings.consumer),
          // After a lost reply the lane may have been given the chunk meanwhile.
          !runs.isCarrying(claim)
        {
          let chunk = runs.become(direct, claim)
          onRoom()
          return chunk
        }
        gate.apply(.stale, run)
        run.abandon()
      } catch {
        context.reasons.note("settling waits for Redis: \(error)")
        if context.life.isForsaking {
          run.abandon()
          return nil
        }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
    return nil
  }

  // MARK: Without a task

  private static let everyMs = WorkerLimits.checkpointMs / 4

  /// Waits with a run until something happens to it.
  func attend(_ direct: DirectRun) {
    guard !direct.run.isFinished else { return end(direct) }
    direct.run.attendant = self
    look()
  }

  func hear(_ run: PushRun) {
    run.attendant = nil
    guard let direct = runs.direct(at: run.slot) else { return }
    // What has not ended does not wait for those that have. Nearly always the run has ended.
    if run.isFinished { end(direct) } else { onHandedOn(run.slot) }
  }

  /// Looks from time to time for those that last too long.
  private func look() {
    guard !isTimed else { return }
    isTimed = true
    let timer = self.timer ?? LoopTimer(loop: context.loop) { [weak self] in self?.handOnOverdue() }
    self.timer = timer
    timer.schedule(afterMs: Self.everyMs)
  }

  private func handOnOverdue() {
    isTimed = false
    var overdue: [PushRun] = []
    var isAnyLeft = false
    runs.forEachDirect { direct in
      guard direct.run.attendant != nil else { return }
      // Until the next look it would have waited for longer than results do.
      if direct.isOverdue, direct.ageMs + Self.everyMs > WorkerLimits.checkpointMs {
        overdue.append(direct.run)
      } else {
        isAnyLeft = true
      }
    }
    for run in overdue {
      run.attendant = nil
      onHandedOn(run.slot)
    }
    if isAnyLeft { look() }
  }

  // MARK: Ending

  private func end(_ direct: DirectRun) {
    if finished.add(direct) { onReady() }
  }

  /// Tells of all that have ended, and of those that end meanwhile.
  func endReady() async {
    finished.begin()
    while let batch = finished.take() { await end(batch) }
  }

  private func end(_ batch: [DirectRun]) async {
    var ended: [(run: DirectRun, ending: DirectEnding)] = []
    for direct in batch {
      guard direct.run.standing != .stale else {
        onHandedOn(direct.slot)
        continue
      }
      let news = direct.run.takeNews(isFinal: true)
      if news.isPlain {
        ended.append(
          (
            direct,
            DirectEnding(
              job: direct.job, startedAtMs: direct.begunAtMs, settlement: news)
          ))
      } else {
        handOn(direct, telling: news)
      }
    }
    guard !ended.isEmpty else { return }
    for (direct, _) in ended { direct.run.finishTrace() }
    let answers: [DirectAnswer]
    do throws(RedisError) {
      answers = try await self.answers(to: ended.map(\.ending))
    } catch {
      // Each by itself from now on: one of them that Redis refuses keeps none of the others.
      for (direct, ending) in ended { handOn(direct, telling: ending.settlement) }
      return
    }
    for ((direct, ending), answer) in zip(ended, answers) {
      switch answer {
      case .ended: release(direct)
      case .stale:
        gate.apply(.stale, direct.run)
        release(direct)
      case .admit: handOn(direct, telling: ending.settlement)
      }
    }
  }

  /// Asks until Redis has answered, refused, or the lane is to end.
  private func answers(to endings: [DirectEnding]) async throws(RedisError) -> [DirectAnswer] {
    while true {
      do throws(RedisError) {
        return try await context.store.jobs.direct.end(endings)
      } catch {
        context.reasons.note("settling waits for Redis: \(error)")
        guard error.isPassing, !context.life.isForsaking else { throw error }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  /// Has a run settled as a chunk, whose last news were taken.
  private func handOn(_ direct: DirectRun, telling news: Settlement) {
    untold[direct.slot] = news
    onHandedOn(direct.slot)
  }

  private func release(_ direct: DirectRun) {
    runs.remove(direct.run)
    onRoom()
    // What was no chunk made room for none, but for the last of it.
    if runs.count == 0 { context.fetchSignal.raise() }
  }
}
