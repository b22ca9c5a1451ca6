internal import Reactor
internal import Redis
internal import Store

/// Carries jobs that are sent from their entries while there is nothing to do for them but to wait for answers: many at a time,
/// and no task waits with any of them. Those that end in one turn of the loop, or while Redis is asked, are told together.
/// Whatever else happens to one, a task goes on with it (`ChunkCarrier`); loop-bound.
final class DirectCarrier: RunAttendant {
  private let context: LaneContext
  private let runs: RunTable
  private let room: SendingRoom
  private let gate: SendingGate
  private let resolver: BindingResolver
  private let onResolved: (ChunkRun) -> Void
  private let onRoom: () -> Void
  /// Called when a task is to tell of those that have ended, by `endReady`.
  var onReady: () -> Void = { preconditionFailure("nobody tells of what has ended") }
  /// Called with the place of a run that a task is to carry on.
  var onHandedOn: (Int) -> Void = { _ in preconditionFailure("nobody carries what is handed on") }

  /// Runs that have ended, and that nobody tells of yet.
  private var ready: [ChunkRun] = []
  /// Tasks that tell, and those of them that have not begun.
  private var telling = 0
  private var starting = 0
  private var timer: LoopTimer?
  private var isTimed = false

  /// - Parameters:
  ///   - onResolved: called with a run that was begun and has its pushes.
  ///   - onRoom: called when a run has ended.
  init(
    _ context: LaneContext, runs: RunTable, room: SendingRoom, gate: SendingGate,
    resolver: BindingResolver, onResolved: @escaping (ChunkRun) -> Void,
    onRoom: @escaping () -> Void
  ) {
    self.context = context
    self.runs = runs
    self.room = room
    self.gate = gate
    self.resolver = resolver
    self.onResolved = onResolved
    self.onRoom = onRoom
  }

  // MARK: Waiting

  private static let everyMs = WorkerLimits.checkpointMs / 4

  /// Sends a job that was just begun, at once when its users' bindings are here.
  func begin(_ run: ChunkRun) {
    let mayResolve =
      room.mayResolve(run) && !context.life.isDraining && !context.switches.isOld
    if mayResolve { resolver.resolveKnown(run) }
    if run.isResolved { onResolved(run) }
    if run.isQuiet { attend(run) } else { onHandedOn(run.slot) }
  }

  /// Waits with a run until something happens to it.
  func attend(_ run: ChunkRun) {
    guard !run.isFinished else { return hear(run) }
    run.attendant = self
    look()
  }

  /// Nearly always the run has ended.
  func hear(_ run: ChunkRun) {
    run.attendant = nil
    // What has not ended does not wait for those that have.
    guard run.isFinished else { return onHandedOn(run.slot) }
    ready.append(run)
    // Others whose answers came with this one's are about to end, too.
    guard telling == 0 || ready.count >= WorkerLimits.directEndsMax * (starting + 1) else { return }
    telling += 1
    starting += 1
    onReady()
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
    var overdue: [ChunkRun] = []
    var isAnyLeft = false
    runs.forEach { run in
      guard run.attendant != nil else { return }
      // Until the next look it would have waited for longer than results do.
      if run.isOverdue, run.ageMs + Self.everyMs > WorkerLimits.checkpointMs {
        overdue.append(run)
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

  /// Tells of all that have ended, and of those that end meanwhile.
  func endReady() async {
    starting -= 1
    while !ready.isEmpty {
      let batch = Array(ready.prefix(WorkerLimits.directEndsMax))
      ready.removeFirst(batch.count)
      await end(batch)
    }
    telling -= 1
  }

  private func end(_ batch: [ChunkRun]) async {
    var ended: [(run: ChunkRun, ending: DirectEnding)] = []
    for run in batch {
      guard run.standing != .stale, let job = run.direct else {
        onHandedOn(run.slot)
        continue
      }
      let news = run.takeNews(isFinal: true)
      if news.isPlain {
        ended.append(
          (run, DirectEnding(job: job, startedAtMs: run.begunAtMs, settlement: news)))
      } else {
        handOn(run, telling: news)
      }
    }
    guard !ended.isEmpty else { return }
    for (run, _) in ended { run.finishTrace() }
    let answers: [DirectAnswer]
    do throws(RedisError) {
      answers = try await self.answers(to: ended.map(\.ending))
    } catch {
      // Each by itself from now on: one of them that Redis refuses keeps none of the others.
      for (run, ending) in ended { handOn(run, telling: ending.settlement) }
      return
    }
    for ((run, ending), answer) in zip(ended, answers) {
      switch answer {
      case .ended: release(run)
      case .stale:
        gate.apply(.stale, run)
        release(run)
      case .admit: handOn(run, telling: ending.settlement)
      }
    }
  }

  /// Asks until Redis has answered, refused, or the lane is to end.
  private func answers(to endings: [DirectEnding]) async throws(RedisError) -> [DirectAnswer] {
    while true {
      do throws(RedisError) {
        return try await context.store.jobs.endDirect(endings)
      } catch {
        context.reasons.note("settling waits for Redis: \(error)")
        guard error.isPassing, !context.life.isForsaking else { throw error }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  /// Has a run settled as a chunk, whose last news were taken.
  private func handOn(_ run: ChunkRun, telling news: Settlement) {
    run.untold = news
    onHandedOn(run.slot)
  }

  private func release(_ run: ChunkRun) {
    runs.remove(run)
    onRoom()
    if runs.count == 0 { context.fetchSignal.raise() }
  }
}
