internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Fetches chunks as long as there is room: first those of silent workers, then those that waited for this worker's routes,
/// then new ones.
final class Fetcher: Agent {
  private let context: LaneContext
  private let runs: RunTable
  private let room: SendingRoom
  private let gate: SendingGate
  private let recoverer: Recoverer
  private let starter: ChunkStarter
  /// Claims that Redis failed to say more about; taken up when it is back.
  private var unstarted: [ChunkClaim] = []
  private var lostAnswers = LostAnswers()

  init(
    _ context: LaneContext, runs: RunTable, room: SendingRoom, gate: SendingGate,
    recoverer: Recoverer, starter: ChunkStarter
  ) {
    self.context = context
    self.runs = runs
    self.room = room
    self.gate = gate
    self.recoverer = recoverer
    self.starter = starter
  }

  /// Fetches some, or waits until there may be some.
  func turn() async -> UInt64 {
    do throws(RedisError) {
      if try await !claim() { await waitForWork() }
      return 0
    } catch {
      lostAnswers.note(error)
      context.reasons.note(error, during: "fetching work")
      return WorkerLimits.redisPauseMs
    }
  }

  /// Hands back what was claimed and not begun.
  /// - Parameter isAsking: whether also what this lane may have been given without knowing; not where it has left chunks to
  ///   the end of their leases.
  func handBack(isAsking: Bool) async throws(RedisError) {
    if isAsking, lostAnswers.areToBeAskedFor {
      unstarted += try await unanswered(max: WorkerLimits.runsMax)
    }
    guard !unstarted.isEmpty else { return }
    try await context.store.chunks.handBack(unstarted, consumer: context.settings.consumer)
    unstarted.removeAll()
  }

  // MARK: Claiming

  /// - Returns: whether anything was claimed.
  private func claim() async throws(RedisError) -> Bool {
    // All that Redis names in this turn is begun in it, or asked about again.
    runs.beginAsking()
    defer { runs.endAsking() }
    try await context.switches.readIfOld()
    try await takeUpUnstarted()
    let chunksAhead = room.pushesAhead / Limits.chunkRecipientsMax
    runs.chunksMax = min(WorkerLimits.runsMax + 2 * chunksAhead, WorkerLimits.farRunsMax)
    guard let lowest = lowestClaimed else { return false }
    if lostAnswers.areToBeAskedFor, try await takeUpUnanswered() { return true }
    let free = runs.freeSlots
    // Those may be of any priority.
    let hasRoomForAll = lowest == .low
    if hasRoomForAll, recoverer.isDue,
      try await takeOver(max: min(free, WorkerLimits.reclaimsMax))
    {
      return true
    }
    let routedMax = max(1, min(free, WorkerLimits.claimMax) / 2)
    let wasRouted = hasRoomForAll ? try await claimRouted(max: routedMax) : false
    let room = wasRouted ? runs.freeSlots : free
    guard room > 0 else { return true }
    let claimMax = min(room, WorkerLimits.claimMax + chunksAhead, WorkerLimits.farClaimMax)
    let (claims, isMore) = try await context.store.chunks.claimSome(
      consumer: context.settings.consumer, max: claimMax, downTo: lowest)
    lostAnswers.forget()
    try await begin(claims)
    // Others may have room for what this lane has not.
    if isMore || claims.count == claimMax { context.shared.idle.wake(.chunks) }
    return isMore || !claims.isEmpty || wasRouted
  }

  /// The lowest priority that there is room for; nil when there is none.
  private var lowestClaimed: Priority? {
    guard runs.freeSlots > 0 else { return nil }
    let unresolvedMax = Limits.chunkRecipientsMax + room.pushesAhead
    // Behind jobs that are sent from their entries there is no other room before a chunk wants it.
    let backlogMax = room.isAnyChunkWaiting ? 0 : room.directBacklogMax
    return Priority.allCases.last {
      room.waiting(upTo: $0) < backlogMax
        || room.hasRoom(for: $0) && room.unresolved(for: $0) < unresolvedMax
    }
  }

  /// Takes over chunks whose workers fell silent. - Returns: whether there were any.
  private func takeOver(max: Int) async throws(RedisError) -> Bool {
    let claims = try await recoverer.takeOver(max: max)
    // After a silence of our own, our own chunks come back: they are being carried already. Another worker may have had one in
    // between, and have added other lines to it. That is seen before any is begun: later a chunk may have lines of its own that
    // Redis had not heard of.
    for claim in claims {
      if let chunk = runs.chunk(carrying: claim), !chunk.agrees(with: claim) {
        gate.apply(.stale, chunk.run)
      }
    }
    for (index, claim) in claims.enumerated() where !runs.knows(claim) {
      context.log.notice(
        "took over a chunk from a worker that fell silent",
        metadata: ["app": "\(claim.app)", "job": "\(claim.job)", "crashes": "\(claim.crashes)"])
      do throws(RedisError) {
        try await starter.begin(claim)
      } catch {
        unstarted += claims[index...]
        throw error
      }
    }
    return !claims.isEmpty
  }

  /// Takes up chunks that wait for a worker with this one's routes. - Returns: whether there were any.
  private func claimRouted(max: Int) async throws(RedisError) -> Bool {
    guard context.shared.routes.hasWork else { return false }
    let claims = try await context.store.routes.claim(
      consumer: context.settings.consumer, for: context.snapshot.routes, max: max)
    if claims.isEmpty { context.shared.routes.noteWork(false) }
    try await begin(claims)
    if claims.count == max { context.shared.idle.wake(.chunks) }
    return !claims.isEmpty
  }

  // MARK: Beginning

  /// Begins claimed chunks; what Redis fails to say more about is taken up when it is back.
  private func begin(_ claims: [ChunkClaim]) async throws(RedisError) {
    for (index, claim) in claims.enumerated() {
      do throws(RedisError) {
        try await starter.begin(claim)
      } catch {
        unstarted += claims[index...]
        throw error
      }
    }
  }

  /// Begins what Redis failed to say more about when it was claimed, as far as it is still this lane's.
  private func takeUpUnstarted() async throws(RedisError) {
    guard !unstarted.isEmpty else { return }
    // The lease may have passed meanwhile: asking renews it, or says whose the chunk is not.
    let standings = try await context.store.chunks.heartbeat(
      unstarted, consumer: context.settings.consumer)
    for standing in standings {
      let claim = unstarted[0]
      switch standing {
      // A job that is sent from its entry has become it: it goes its own way.
      case _ where runs.knows(claim): break
      case .ok: try await starter.begin(claim)
      case .stale: break
      case .paused, .cancelled:
        try await context.store.chunks.handBack([claim], consumer: context.settings.consumer)
      }
      unstarted.removeFirst()
    }
  }

  /// Begins what this lane was given by answers that were lost. - Returns: whether there was any.
  private func takeUpUnanswered() async throws(RedisError) -> Bool {
    let max = min(runs.freeSlots, WorkerLimits.claimMax)
    let claims = try await unanswered(max: max)
    // What was cleared away on the way counts as well: fewer than were asked for may not be all.
    if claims.isEmpty { lostAnswers.forget() }
    try await begin(claims)
    return !claims.isEmpty
  }

  private func unanswered(max: Int) async throws(RedisError) -> [ChunkClaim] {
    try await context.store.chunks.claimUnanswered(
      consumer: context.settings.consumer, max: max,
      inHand: runs.claimed.map(\.claim) + unstarted)
  }

  // MARK: Waiting

  private func waitForWork() async {
    // What ends makes room, and the fetching goes on. A lane with room for some priorities only would be woken in place of
    // one that has room for all.
    guard lowestClaimed == .low else {
      // Jobs that are sent from their entries come and go without a word.
      let isAlone = runs.chunks == runs.count
      await context.fetchSignal.wait(
        upToMs: isAlone ? WorkerLimits.idleMsMax : WorkerLimits.directSpanMs)
      return
    }
    let remote = RemoteSignal(context.fetchSignal, of: context.loop)
    guard
      context.shared.idle.enlist(
        context.settings.number, for: .chunks, wake: { remote.raise() })
    else {
      return
    }
    await context.fetchSignal.wait(
      upToMs: runs.count > 0 ? WorkerLimits.idleMsMax : WorkerLimits.idleLaneMsMax)
    context.shared.idle.withdraw(context.settings.number, from: .chunks)
  }
}
