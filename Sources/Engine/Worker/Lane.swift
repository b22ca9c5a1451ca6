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
  let store: Store
  private let log: Logger
  private let redis: RedisConnection
  private let life = LaneLife()
  private let runs: RunTable
  private let dispatcher: Dispatcher
  private let tracer: Tracer
  private let admitter: Admitter
  private let starter: ChunkStarter
  private let fetcher: Fetcher
  private let carrier: ChunkCarrier
  private let largeIntake: LargeIntake
  private let rateKeeper: RateKeeper
  private let reporter: ProcessReporter
  /// Of one lane of the process.
  private let housekeeper: Housekeeper?
  /// All that take turns, in the order in which they begin.
  private let agents: [AgentLoop]
  private let renewing: AgentLoop
  private let drained: LoopSignal
  /// Tasks of the lane that have not ended.
  private var tasks = 0

  init(
    loop: EventLoop, settings: LaneSettings, directory: ProviderDirectory, log: Logger
  ) throws(TLSError) {
    self.loop = loop
    self.settings = settings
    self.log = log
    let clock = settings.clock
    let consumer = settings.consumer
    let reasons = ReasonLog(log: log)
    redis = try RedisConnection(
      loop: loop, endpoint: settings.redis, library: StoreLibrary.library)
    let store = Store(connection: redis, prefix: settings.prefix)
    self.store = store
    /// Raised when there may be something to fetch.
    let fetchSignal = LoopSignal(loop: loop)
    /// Raised when there may be jobs to take in.
    let admitSignal = LoopSignal(loop: loop)
    drained = LoopSignal(loop: loop)

    // Sending.
    let runs = RunTable()
    self.runs = runs
    let dispatcher = Dispatcher(
      loop: loop, runs: runs, directory: directory, fleet: settings.routes,
      settings: DispatcherSettings(
        worker: settings.worker, connectionsMax: settings.connectionsMax,
        streamsMax: settings.streamsMax, requestTimeoutMs: settings.requestTimeoutMs,
        shortage: settings.shortage), clock: clock, reasons: reasons, log: log)
    self.dispatcher = dispatcher
    rateKeeper = RateKeeper(rates: store.rates, reasons: reasons)

    // Chunks.
    tracer = Tracer(loop: loop, store: store.traces, by: consumer, clock: clock)
    let materials = MaterialStore(store: store, tracer: tracer)
    let switchWatch = SwitchWatch(
      store: store, nowNs: { loop.nowNs }, log: log, reasons: reasons,
      isLogging: settings.isHousekeeper, onChange: { dispatcher.apply($0) })
    let leaseKeeper = LeaseKeeper(
      loop: loop, chunks: store.chunks, runs: runs, consumer: consumer, leaseMs: settings.leaseMs,
      log: log, onStanding: { dispatcher.apply($0, $1) })
    let recoverer = Recoverer(
      chunks: store.chunks, consumer: consumer, leaseMs: settings.leaseMs,
      onDue: { fetchSignal.raise() })
    starter = ChunkStarter(
      loop: loop, store: store, settings: settings, materials: materials, runs: runs,
      dispatcher: dispatcher, switches: switchWatch, life: life, reasons: reasons, log: log)
    fetcher = Fetcher(
      loop: loop, store: store, settings: settings, runs: runs, dispatcher: dispatcher,
      switches: switchWatch, recoverer: recoverer, starter: starter, reasons: reasons, log: log,
      signal: fetchSignal)
    carrier = ChunkCarrier(
      loop: loop, chunks: store.chunks, rates: store.rates, settings: settings, runs: runs,
      dispatcher: dispatcher,
      resolver: BindingResolver(
        loop: loop, store: store, consumer: consumer, dispatcher: dispatcher),
      switches: switchWatch, leases: leaseKeeper, tracer: tracer, life: life, reasons: reasons,
      log: log, fetchSignal: fetchSignal)

    // Intake.
    admitter = Admitter(
      loop: loop, store: store, directory: directory, materials: materials,
      routes: settings.routes, unroutedMs: settings.unroutedMs,
      eventsPerMinute: settings.eventsPerMinute, localTimes: settings.localTimes,
      retentionSeconds: settings.retentionSeconds, consumer: consumer, log: log,
      reasons: reasons, fetchSignal: fetchSignal, clock: clock, large: LargeJobs(loop: loop))
    let intake = Intake(
      loop: loop, store: store, admitter: admitter, settings: settings, reasons: reasons,
      signal: admitSignal, fetchSignal: fetchSignal)
    largeIntake = LargeIntake(loop: loop, admitter: admitter, life: life, reasons: reasons)

    // What one lane does for all.
    reporter = ProcessReporter(metrics: store.metrics, loop: loop, clock: clock, log: log)
    let monitor = LaneMonitor(
      dispatcher: dispatcher, reasons: reasons,
      latencies: LatencyReporter(metrics: store.metrics, clock: clock, log: log),
      alarms: AlarmKeeper(
        alarms: store.alarms, consumer: consumer, log: log, nowNs: { loop.nowNs }),
      clockWatch: settings.isHousekeeper
        ? ClockWatch(clock: clock, worker: settings.worker, log: log) : nil)

    let life = life
    let untilDrained = { !life.isDraining }
    let untilEmpty = { !life.isDraining || runs.count > 0 }
    renewing = AgentLoop(leaseKeeper, on: loop, while: untilEmpty)
    housekeeper =
      settings.isHousekeeper
      ? try Housekeeper(
        loop: loop, settings: settings, store: store, life: life, intake: intake,
        reasons: reasons, log: log, fetchSignal: fetchSignal) : nil
    agents =
      [
        AgentLoop(switchWatch, on: loop, while: untilEmpty),
        AgentLoop(fetcher, on: loop, signal: fetchSignal, while: untilDrained),
        AgentLoop(intake, on: loop, signal: admitSignal, while: untilDrained),
        renewing,
        AgentLoop(
          recoverer, on: loop, firstAfterMs: recoverer.everyMs, while: untilDrained),
        AgentLoop(monitor, on: loop, while: untilEmpty),
      ] + (housekeeper?.agents ?? [])
  }

  // MARK: Life

  /// Works until `drain` was called and everything in hand is settled or handed back.
  func run() async {
    connectParts()
    redis.connect()
    housekeeper?.start()
    for number in agents.indices { start { await $0.agents[number].run() } }
    start { await $0.largeIntake.run() }
    while tasks > 0 { await drained.wait() }
    life.end()
    dispatcher.close()
    await tracer.finish()
    await leave()
    redis.close()
    housekeeper?.stop()
  }

  /// Takes no new work, finishes what is in flight within the drain time, hands the rest back.
  func drain() {
    guard !life.isDraining else { return }
    life.drain()
    dispatcher.pauseAll()
    housekeeper?.stop()
    wakeAgents()
    let timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.abort() } }
    timer.schedule(afterMs: settings.drainMs)
  }

  /// Ends without waiting for answers: what is in flight counts as unknown and is left to others.
  func abort() {
    guard !life.isAborting else { return }
    drain()
    life.abort()
    admitter.large.abandon()
    dispatcher.close()
    dispatcher.withdrawUnsendable()
  }

  private func leave() async {
    do throws(RedisError) {
      try await fetcher.handBack(isAsking: !life.isAborting)
      try await store.metrics.sweepConsumers(named: settings.consumer)
      if settings.isHousekeeper { try await store.metrics.forget(worker: settings.worker) }
    } catch { log.debug("could not take leave: \(error)") }
  }

  // MARK: Its parts

  /// Has the lane hear of its connection to Redis, of its loop, and of what needs a task of its own.
  private func connectParts() {
    redis.onReady = { [unowned self] in
      // Before anything else: where connections do not live for long, a timer would miss them.
      assumeIsolated { $0.renewing.wake() }
      log.info("connected to Redis")
    }
    redis.onTime = { [clock = settings.clock] serverMs, sentNs, receivedNs in
      clock.learn(serverMs: serverMs, sentNs: sentNs, receivedNs: receivedNs)
    }
    redis.onLost = { [log] error in log.warning("no Redis: \(error); trying again") }
    loop.onOutOfDescriptors = { [unowned self] error in
      assumeIsolated { $0.dispatcher.noteOutOfDescriptors(error) }
    }
    dispatcher.onNewDestination = { [unowned self] number in
      assumeIsolated { lane in lane.startUncounted { await $0.keepCredential(number) } }
    }
    dispatcher.onAllowance = { [unowned self] name, wanted in
      assumeIsolated { lane in lane.startUncounted { await $0.drawAllowance(name, wanted) } }
    }
    starter.onBegun = { [unowned self] slot in
      assumeIsolated { lane in lane.start { await $0.carry(slot) } }
    }
  }

  private func carry(_ slot: Int) async {
    guard let run = runs[slot] else { return }
    await carrier.carry(run)
    if life.isDraining { wakeAgents() }
  }

  private func keepCredential(_ number: Int) async {
    guard let destination = dispatcher.destinations[number] else { return }
    let keeper = CredentialKeeper(destination: destination, clock: settings.clock, log: log)
    await AgentLoop(
      keeper, on: loop, signal: destination.credentialSignal, while: { [life] in !life.isEnded }
    ).run()
  }

  private func drawAllowance(_ name: String, _ wanted: Int) async {
    guard let allowance = dispatcher.allowances[name] else { return }
    await rateKeeper.obtain(wanted, for: allowance)
  }

  // MARK: Tasks

  /// Runs a task of the lane that `run` waits for.
  private func start(_ body: @escaping @Sendable (isolated Lane) async -> Void) {
    tasks += 1
    Task(executorPreference: loop) {
      await body(self)
      await self.ended()
    }
  }

  /// Runs a task that ends with the lane and that `run` does not wait for.
  private func startUncounted(_ body: @escaping @Sendable (isolated Lane) async -> Void) {
    Task(executorPreference: loop) { await body(self) }
  }

  private func ended() {
    tasks -= 1
    if tasks == 0 { drained.raise() }
  }

  /// Ends the agents' waits: each takes a turn, or ends when it is not needed any more.
  private func wakeAgents() {
    for agent in agents { agent.wake() }
  }

  // MARK: What the process reports

  func statistics() -> LaneStatistics {
    var statistics = LaneStatistics()
    statistics.inFlight = dispatcher.inFlight
    statistics.accepted = dispatcher.accepted
    statistics.connections = dispatcher.connections
    statistics.isConnected = redis.isReady
    return statistics
  }

  func beat(worker: String, fields: [(String, String)]) async {
    // A worker that has taken its leave must not come back by a late beat.
    guard !life.isEnded else { return }
    await reporter.beat(worker: worker, fields: fields)
  }

  func appendTimeline(_ statistics: LaneStatistics, acceptedPerSecond: Int) async {
    await reporter.appendTimeline(statistics, acceptedPerSecond: acceptedPerSecond)
  }
}
