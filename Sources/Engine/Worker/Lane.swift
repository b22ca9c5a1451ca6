internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Redis
internal import Store

/// One lane: a thread with everything it needs to deliver, sharing nothing with the others but Redis.
///
/// Its tasks fetch work, carry each chunk from claim to settlement, renew leases, and keep credentials;
/// the pushes themselves go through the `Dispatcher` without tasks.
actor Lane {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  let settings: LaneSettings
  let log: Logger
  let redis: RedisConnection
  let store: Store
  let dispatcher: Dispatcher
  let resolver: BindingResolver
  let materials: MaterialStore
  let tracer: Tracer
  let admitter: Admitter
  /// Of the lane that watches the streams for all lanes of the process.
  let watch: (connection: RedisConnection, signal: WorkSignal)?
  /// Raised when there may be something to fetch, or the lane is to end.
  let fetchSignal: LoopSignal
  /// Raised when there may be jobs to take in, or the lane is to end.
  let admitSignal: LoopSignal
  let drained: LoopSignal
  private(set) var isDraining = false
  private(set) var isAborting = false
  /// Whether everything is settled or handed back.
  private(set) var isEnded = false
  /// Tasks of the lane that have not ended.
  private var tasks = 0
  /// Claims that Redis failed to say more about; taken up when it is back.
  var unbegun: [ChunkClaim] = []
  /// Whether jobs that waited for a worker with these routes are to be taken in.
  var isRoutedDue = false
  /// Whether it is time to look for chunks whose workers fell silent.
  var isReclaimDue = false
  /// The difference of this machine's clock that was logged last.
  var loggedAheadMs: Int64?
  /// Alarms that it has raised, and when it did so last, in the loop's time.
  var raisedAlarms: [String: UInt64] = [:]
  /// What housekeeping tasks wait on between two rounds.
  private var bells: [LoopSignal] = []
  /// What the renewal of leases waits on.
  private(set) lazy var beatBell = makeBell()

  init(
    loop: EventLoop, settings: LaneSettings, directory: ProviderDirectory, log: Logger
  ) throws(TLSError) {
    self.loop = loop
    self.settings = settings
    self.log = log
    redis = try RedisConnection(
      loop: loop, endpoint: settings.redis, library: StoreLibrary.library)
    if settings.isFirst {
      let connection = try RedisConnection(
        loop: loop, endpoint: settings.redis, library: StoreLibrary.library)
      watch = (connection, WorkSignal(connection: connection, prefix: settings.prefix))
    } else {
      watch = nil
    }
    store = Store(connection: redis, prefix: settings.prefix)
    dispatcher = Dispatcher(
      loop: loop, directory: directory, fleet: settings.routes,
      settings: DispatcherSettings(
        worker: settings.worker, connectionsMax: settings.connectionsMax,
        streamsMax: settings.streamsMax, requestTimeoutMs: settings.requestTimeoutMs,
        shortage: settings.shortage), clock: settings.clock, log: log)
    resolver = BindingResolver(loop: loop, store: store, dispatcher: dispatcher)
    tracer = Tracer(
      loop: loop, store: store.traces, by: settings.consumer, clock: settings.clock)
    materials = MaterialStore(store: store, tracer: tracer)
    fetchSignal = LoopSignal(loop: loop)
    admitSignal = LoopSignal(loop: loop)
    admitter = Admitter(
      loop: loop, store: store, directory: directory, materials: materials,
      routes: settings.routes, unroutedMs: settings.unroutedMs, consumer: settings.consumer,
      log: log, fetchSignal: fetchSignal, clock: settings.clock, large: LargeJobs(loop: loop))
    drained = LoopSignal(loop: loop)
  }

  // MARK: Life

  /// Works until `drain` was called and everything in hand is settled or handed back.
  func run() async {
    redis.onReady = { [unowned self] in
      // Before anything else: where connections do not live for long, a timer would miss them.
      assumeIsolated { $0.beatBell.raise() }
      log.info("connected to Redis")
    }
    redis.onTime = { [clock = settings.clock] serverMs, sentNs, receivedNs in
      clock.learn(serverMs: serverMs, sentNs: sentNs, receivedNs: receivedNs)
    }
    redis.onLost = { [unowned self] error in
      log.warning("no Redis: \(error); trying again")
    }
    loop.onOutOfDescriptors = { [unowned self] error in
      assumeIsolated { $0.dispatcher.noteOutOfDescriptors(error) }
    }
    dispatcher.onNewDestination = { [unowned self] number in
      assumeIsolated { lane in lane.startUncounted { await $0.keepCredential(number) } }
    }
    dispatcher.onLease = { [unowned self] name, wanted in
      assumeIsolated { lane in lane.startUncounted { await $0.lease(name, wanted) } }
    }
    redis.connect()
    watch?.connection.connect()
    start { await $0.watchSwitches() }
    start { await $0.fetch() }
    start { await $0.admit() }
    start { await $0.admitLarge() }
    start { await $0.beatChunks() }
    start { await $0.reclaim() }
    start { await $0.keepHouse() }
    if settings.isFirst {
      start { await $0.watchWork() }
      start { await $0.watchRoutes() }
      start { await $0.promote() }
      start { await $0.audit() }
    }
    while tasks > 0 { await drained.wait() }
    isEnded = true
    dispatcher.close()
    await tracer.finish()
    await leave()
    redis.close()
    watch?.connection.close()
  }

  /// Takes no new work, finishes what is in flight within the drain time, hands the rest back.
  func drain() {
    guard !isDraining else { return }
    isDraining = true
    for run in dispatcher.activeRuns { run.change(to: .paused) }
    dispatcher.withdrawUnsendable()
    fetchSignal.raise()
    admitSignal.raise()
    // Ends the wait for work at once.
    watch?.connection.close()
    ringBells()
    let timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.abort() } }
    timer.schedule(afterMs: settings.drainMs)
  }

  /// Ends without waiting for answers: what is in flight counts as unknown and is left to others.
  func abort() {
    guard !isAborting else { return }
    drain()
    isAborting = true
    admitter.large.abandon()
    dispatcher.close()
    dispatcher.withdrawUnsendable()
  }

  func statistics() -> LaneStatistics {
    var statistics = LaneStatistics()
    statistics.inFlight = dispatcher.inFlight
    statistics.accepted = dispatcher.accepted
    statistics.connections = dispatcher.connections
    statistics.runs = dispatcher.runCount
    statistics.isConnected = redis.isReady
    return statistics
  }

  /// Runs a task of the lane that `run` waits for.
  func start(_ body: @escaping @Sendable (isolated Lane) async -> Void) {
    tasks += 1
    Task(executorPreference: loop) {
      await body(self)
      await self.ended()
    }
  }

  /// Runs a task that ends with the lane and that `run` does not wait for.
  func startUncounted(_ body: @escaping @Sendable (isolated Lane) async -> Void) {
    Task(executorPreference: loop) { await body(self) }
  }

  /// What a housekeeping task waits on, so that it need not be waited for when the lane ends.
  func makeBell() -> LoopSignal {
    let bell = LoopSignal(loop: loop)
    bells.append(bell)
    return bell
  }

  func ringBells() {
    for bell in bells { bell.raise() }
  }

  private func ended() {
    tasks -= 1
    if tasks == 0 { drained.raise() }
  }

  private func leave() async {
    do throws(RedisError) {
      if !unbegun.isEmpty {
        try await store.chunks.handBack(unbegun, consumer: settings.consumer)
        unbegun.removeAll()
      }
      try await store.metrics.sweepConsumers(named: settings.consumer)
      if settings.isFirst { try await store.metrics.forget(worker: settings.worker) }
    } catch { log.debug("could not take leave: \(error)") }
  }

  // MARK: Fetching

  private func fetch() async {
    while !isDraining {
      do throws(RedisError) {
        if try await claimChunks() { continue }
        await waitForWork()
      } catch {
        note(error, during: "fetching work")
        await pauseForRedis()
      }
    }
  }

  /// - Returns: whether anything was claimed.
  private func claimChunks() async throws(RedisError) -> Bool {
    try await knowSwitches()
    try await takeUpUnbegun()
    guard canClaim else { return false }
    let free = dispatcher.freeSlots
    if isReclaimDue, try await takeOver(max: min(free, WorkerLimits.reclaimsMax)) {
      return true
    }
    let wasRouted = try await claimRouted(max: max(1, min(free, WorkerLimits.claimMax) / 2))
    let room = wasRouted ? dispatcher.freeSlots : free
    guard room > 0 else { return true }
    let (claims, isMore) = try await store.chunks.claimSome(
      consumer: settings.consumer, max: min(room, WorkerLimits.claimMax))
    try await begin(claims)
    // Others may have room for what this lane has not.
    if isMore || claims.count == WorkerLimits.claimMax { settings.idle.wake(.chunks) }
    return isMore || !claims.isEmpty || wasRouted
  }

  /// Starts carrying claimed chunks; what Redis fails to say more about is taken up when it is back.
  func begin(_ claims: [ChunkClaim]) async throws(RedisError) {
    for (index, claim) in claims.enumerated() {
      do throws(RedisError) {
        try await begin(claim)
      } catch {
        unbegun += claims[index...]
        throw error
      }
    }
  }

  private var canClaim: Bool {
    dispatcher.freeSlots > 0 && dispatcher.hasRoom
      && dispatcher.unresolved < Limits.chunkRecipientsMax
  }

  /// Begins what Redis failed to say more about when it was claimed, as far as it is still this lane's.
  private func takeUpUnbegun() async throws(RedisError) {
    guard !unbegun.isEmpty else { return }
    // The lease may have passed meanwhile: asking renews it, or says whose the chunk is not.
    let standings = try await store.chunks.heartbeat(unbegun, consumer: settings.consumer)
    for standing in standings {
      let claim = unbegun[0]
      switch standing {
      case .ok where !dispatcher.isCarrying(claim): try await begin(claim)
      case .ok, .stale: break
      case .paused, .cancelled:
        try await store.chunks.handBack([claim], consumer: settings.consumer)
      }
      unbegun.removeFirst()
    }
  }

  /// What Redis refuses is for its operator to hear of; a lost connection speaks for itself.
  func note(_ error: RedisError, during work: String) {
    guard case .server = error else { return log.debug("\(work): \(error)") }
    dispatcher.logOnce("\(work) fails and is tried again: \(error)")
  }

  private func waitForWork() async {
    // What ends makes room, and the fetching goes on.
    guard canClaim else {
      await fetchSignal.wait(upToMs: WorkerLimits.idleMsMax)
      return
    }
    let isIdle = settings.idle.enlist(settings.number, for: .chunks) { [weak self] in
      guard let self else { return }
      loop.execute { self.assumeIsolated { $0.fetchSignal.raise() } }
    }
    guard isIdle else { return }
    await fetchSignal.wait(
      upToMs: dispatcher.runCount > 0 ? WorkerLimits.idleMsMax : WorkerLimits.idleLaneMsMax)
    settings.idle.withdraw(settings.number, from: .chunks)
  }

  private func pauseForRedis() async {
    await fetchSignal.wait(upToMs: WorkerLimits.redisPauseMs)
  }

  /// Starts carrying a claimed chunk.
  func begin(_ claim: ChunkClaim) async throws(RedisError) {
    let finding = try await materials.find(claim)
    if case .unusable(let reason, let message) = finding {
      return try await bury(claim, reason: reason, message: message)
    }
    guard case .material(let material) = finding, dispatcher.freeSlot != nil, !isDraining
    else {
      // A chunk without a job goes away with this.
      try await store.chunks.handBack([claim], consumer: settings.consumer, delayMs: 1_000)
      return
    }
    if try await passOn(claim, material) { return }
    if let delayMs = dispatcher.crowdedMs(claim) {
      try await store.chunks.handBack([claim], consumer: settings.consumer, delayMs: delayMs)
      return
    }
    // The functions hold what is off, so this was on when it was claimed: it may be on again.
    if dispatcher.switches.stops(app: claim.app) { try await readSwitches() }
    guard let slot = dispatcher.freeSlot else {
      try await store.chunks.handBack([claim], consumer: settings.consumer)
      return
    }
    var suspectTicket: UInt64?
    if claim.crashes >= WorkerLimits.suspectCrashes {
      suspectTicket = settings.suspects.enter(nowNs: loop.nowNs)
      guard suspectTicket != nil else {
        try await store.chunks.handBack(
          [claim], consumer: settings.consumer, delayMs: WorkerLimits.suspectPauseMs)
        return
      }
    }
    let run = ChunkRun(
      claim: claim, material: material, slot: slot, loop: loop, suspectTicket: suspectTicket)
    dispatcher.add(run)
    // Redis was asked in between: the drain that began meanwhile has not seen this run.
    if isDraining || dispatcher.isStopped(run) { run.change(to: .paused) }
    start { await $0.carry(slot) }
  }

  private func bury(
    _ claim: ChunkClaim, reason: String, message: String
  ) async throws(RedisError) {
    let wasOurs = try await store.chunks.bury(
      claim, reason: reason, message: message, consumer: settings.consumer)
    guard wasOurs else { return }
    log.error(
      "\(message)",
      metadata: ["app": "\(claim.app)", "job": "\(claim.job)", "dead_letter": "\(reason)"])
  }
}
