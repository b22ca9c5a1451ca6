internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Redis
internal import Store

/// One lane: a thread with everything it needs to deliver, sharing nothing with the others but Redis.
///
/// The tasks of a lane fetch work, carry each chunk from claim to settlement, renew leases, and keep credentials;
/// the pushes themselves go through the `Dispatcher` without tasks.
actor Lane {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  let settings: LaneSettings
  let parts: LaneParts
  private let log: Logger
  private let redis: RedisConnection
  /// The fleet's own store where the lane's shard is the home. In another shard its rates alone are used: those of the
  /// shard's apps.
  let fleet: FleetStore
  private let reporter: ProcessReporter
  /// The housekeeper of the process, in one of its lanes; nil in the others.
  private let housekeeper: Housekeeper?
  /// All that take turns, in the order in which they begin.
  private let agents: [AgentLoop]
  private let renewing: AgentLoop
  /// The watch on Redis, in the lane that speaks for the process, and what gives it its turns.
  private let redisWatch: RedisWatch?
  private let redisLooks: AgentLoop?
  /// The watch on certificates, in the same lane.
  private let certificates: CertificateWatch?
  private let drained: LoopSignal
  /// Why there is no Redis, since it was lost or could not be reached.
  private var trouble: String?
  /// The remarks about sentinels that do not agree.
  private var remarks = Remarks()
  var place: LanePlace
  /// Tasks of the lane that have not ended.
  private var tasks = 0

  var store: ShardStore { parts.store }
  var isConnected: Bool { redis.isReady }
  private var life: LaneLife { parts.life }
  private var sending: SendingParts { parts.sending }

  init(
    loop: EventLoop, settings: LaneSettings, snapshot: WorkerSnapshot, log: Logger
  ) throws(TLSError) {
    self.loop = loop
    self.settings = settings
    self.log = log
    redis = try RedisConnection(
      loop: loop, endpoint: settings.redis, library: StoreLibrary.library)
    let store = ShardStore(connection: redis, prefix: settings.prefix, id: settings.shard)
    fleet = FleetStore(connection: redis, prefix: settings.prefix)
    let parts = LaneParts(
      loop: loop, settings: settings, store: store, fleet: fleet, snapshot: snapshot, log: log)
    self.parts = parts
    drained = LoopSignal(loop: loop)
    let clock = settings.shared.clock
    reporter = ProcessReporter(store: store, loop: loop, clock: clock, log: log)
    let redisWatch =
      settings.isHousekeeper
      ? RedisWatch(
        settings: store.settings,
        records: RecordOutlook(store: store, retention: snapshot.rules.retention, log: log),
        accepted: settings.acceptedRisks, log: log,
        nowNs: { loop.nowNs }) : nil
    self.redisWatch = redisWatch
    let certificates =
      settings.isHousekeeper
      ? CertificateWatch(directory: snapshot.directory, clock: clock, log: log) : nil
    self.certificates = certificates
    let monitor = LaneMonitor(
      destinations: parts.sending.watch, descriptors: parts.sending.descriptors,
      reasons: parts.reasons,
      latencies: LatencyReporter(
        histogram: parts.sending.latency, metrics: store.metrics, clock: clock, log: log),
      alarms: AlarmKeeper(
        alarms: store.alarms, consumer: settings.consumer, log: log, nowNs: { loop.nowNs }),
      process: certificates.map {
        ProcessWatches(
          clock: ClockWatch(clock: clock, worker: settings.worker, log: log), redis: redisWatch,
          certificates: $0,
          memory: MemoryWatch(
            worker: settings.worker, bytesMax: { settings.shared.memory.bytesMax },
            residentBytes: { ProcessMemory.residentBytes }, log: log),
          snapshot: parts.context.snapshot, configuration: settings.shared.configuration)
      })
    housekeeper =
      settings.isHousekeeper
      ? try Housekeeper(
        parts.context, onRouted: { [intake = parts.intake] in intake.noteRouted() }) : nil

    let untilDrained = { !parts.life.isDraining }
    let untilEmpty = { !parts.life.isDraining || parts.runs.count > 0 }
    renewing = AgentLoop(parts.leases, on: loop, while: untilEmpty)
    redisLooks = redisWatch.map { AgentLoop($0, on: loop, while: untilDrained) }
    agents =
      [
        AgentLoop(parts.switches, on: loop, while: untilEmpty),
        AgentLoop(parts.fetcher, on: loop, signal: parts.fetchSignal, while: untilDrained),
        AgentLoop(parts.intake, on: loop, signal: parts.admitSignal, while: untilDrained),
        renewing,
        AgentLoop(
          parts.recoverer, on: loop, firstAfterMs: parts.recoverer.everyMs, while: untilDrained),
        AgentLoop(monitor, on: loop, while: untilEmpty),
      ] + [redisLooks].compactMap { $0 } + (housekeeper?.agents ?? [])
      + (parts.passingOn?.forwarders ?? []).map {
        AgentLoop($0, on: loop, signal: $0.queue.signal, while: untilDrained)
      }
      + [parts.passingOn?.leases].compactMap { $0 }.map {
        AgentLoop($0, on: loop, while: untilDrained)
      }
    place = LanePlace(isShard: settings.shared.doors == nil)
  }

  // MARK: Life

  /// Works until `drain` was called and everything in hand is settled or handed back.
  func run() async {
    connectParts()
    redis.connect()
    if !hasShard { await claimShard() }
    housekeeper?.start()
    for number in agents.indices { start { await $0.agents[number].run() } }
    start { await $0.parts.largeIntake.run() }
    while tasks > 0 { await drained.wait() }
    life.end()
    sending.close()
    await parts.tracer.finish()
    await leave()
    redis.close()
    housekeeper?.stop()
  }

  /// Why the process is not to begin with this Redis; nil when it may, or when Redis is not there at once.
  func refusal() async -> String? {
    connectParts()
    redis.connect()
    do throws(RedisError) {
      try await redis.waitUntilReady(timeoutMs: WorkerLimits.redisFirstLookMs)
      guard let sentence = try await redisWatch?.refusal() else { return nil }
      redis.close()
      return sentence
    } catch { return nil }
  }

  /// Takes no new work, finishes what is in flight within the drain time, hands the rest back.
  func drain() {
    guard !life.isDraining else { return }
    life.drain()
    sending.gate.pauseAll()
    housekeeper?.stop()
    wakeAgents()
    after(settings.drainMs) { $0.endInTime() }
  }

  /// Ends without waiting for answers or for Redis: what is in flight counts as unknown and is left to others.
  func abort() {
    drain()
    endWaiting()
    life.forsake()
  }

  /// The drain time is over. What the networks have answered is not to be sent again because Redis is away for a moment: while the
  /// leases may last, that is told.
  private func endInTime() {
    endWaiting()
    after(min(settings.leaseMs, WorkerLimits.tellingMsMax)) { $0.life.forsake() }
  }

  private func after(_ ms: UInt64, _ body: @escaping @Sendable (isolated Lane) -> Void) {
    let timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { body($0) } }
    timer.schedule(afterMs: ms)
  }

  /// Waits for no answer any more.
  private func endWaiting() {
    guard !life.isAborting else { return }
    life.abort()
    parts.admitter.large.abandon()
    sending.close()
    sending.gate.withdrawUnsendable()
  }

  private func leave() async {
    guard hasShard else { return }
    do throws(RedisError) {
      try await parts.fetcher.handBack(isAsking: !life.isAborting)
      try await parts.store.workers.sweepConsumers(named: settings.consumer)
      if settings.isHousekeeper { try await parts.store.workers.forget(worker: settings.worker) }
    } catch { log.debug("could not take leave: \(error)") }
  }

  /// Goes by another snapshot of the configuration from now on: between two turns, as all that is asked of a lane from
  /// without.
  func use(_ snapshot: WorkerSnapshot) {
    parts.use(snapshot)
    certificates?.use(snapshot.directory)
    redisWatch?.use(snapshot.rules.retention)
  }

  // MARK: Its parts

  /// Has the lane hear of its connection to Redis, of its loop, and of what needs a task of its own.
  private func connectParts() {
    redis.onReady = { [unowned self] in
      // Before anything else: where connections do not live for long, a timer would miss them.
      let server = assumeIsolated { lane -> String in
        lane.renewing.wake()
        lane.redisLooks?.wake()
        lane.trouble = nil
        return lane.redis.server.map { "\($0)" } ?? ""
      }
      log.info("connected to Redis", metadata: ["server": "\(server)"])
    }
    redis.onTime = { [clock = settings.shared.clock] serverMs, sentNs, receivedNs in
      clock.learn(serverMs: serverMs, sentNs: sentNs, receivedNs: receivedNs)
    }
    sending.room.roundTripNs = { [redis] in redis.roundTripNs }
    redis.onLost = { [unowned self] error in
      let sentence = DocumentedUser.worker.explain(error)
      assumeIsolated { $0.trouble = sentence }
      log.warning("no Redis: \(sentence); trying again")
    }
    redis.onRemark = { [unowned self] sentence in
      assumeIsolated { $0.note(remark: sentence) }
    }
    loop.onOutOfDescriptors = { [unowned self] error in
      assumeIsolated { $0.sending.descriptors.noteOutOfDescriptors(error) }
    }
    sending.destinations.onNewDestination = { [unowned self] number in
      assumeIsolated { lane in lane.startUncounted { await $0.keepCredential(number) } }
    }
    sending.rates.onAsked = { [unowned self] name, wanted in
      assumeIsolated { lane in lane.startUncounted { await $0.drawAllowance(name, wanted) } }
    }
    parts.directStarter.onBatch = { [unowned self] in
      assumeIsolated { lane in lane.start { await $0.parts.admitter.beginHeld() } }
    }
    parts.starter.onBegun = { [unowned self] slot in
      assumeIsolated { lane in lane.start { await $0.carry(slot) } }
    }
    parts.direct.onHandedOn = { [unowned self] slot in
      assumeIsolated { lane in lane.start { await $0.carryDirect(slot) } }
    }
    parts.direct.onReady = { [unowned self] in
      assumeIsolated { lane in lane.start { await $0.endReady() } }
    }
  }

  /// Sentinels are asked each time that a lane connects, and every few seconds afterwards: one lane says what they say. The majority is
  /// believed before all have answered, so whether they agree again nobody hears.
  private func note(remark sentence: String) {
    guard settings.isHousekeeper, remarks.take(sentence, nowNs: loop.nowNs) else { return }
    log.warning("\(sentence)")
  }

  private func carry(_ slot: Int) async {
    guard let chunk = parts.runs.chunk(at: slot) else { return }
    await parts.carrier.carry(chunk)
    if life.isDraining { wakeAgents() }
  }

  private func carryDirect(_ slot: Int) async {
    guard let direct = parts.runs.direct(at: slot) else { return }
    await parts.direct.carry(direct)
    if life.isDraining { wakeAgents() }
  }

  private func endReady() async {
    await parts.direct.endReady()
    if life.isDraining { wakeAgents() }
  }

  private func keepCredential(_ number: Int) async {
    guard let destination = sending.destinations[number] else { return }
    let keeper = CredentialKeeper(
      destination: destination, clock: settings.shared.tokenClock, log: log)
    await AgentLoop(
      keeper, on: loop, signal: destination.credentialSignal,
      while: { [life] in !life.isEnded && !destination.isRetired }
    ).run()
  }

  private func drawAllowance(_ name: String, _ wanted: Int) async {
    guard let allowance = sending.rates[name] else { return }
    await parts.rateKeeper.obtain(wanted, for: allowance)
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

  /// - Parameter askedNs: when the lane was asked, by `EventLoop.clockNs`.
  func statistics(askedNs: UInt64) -> LaneStatistics {
    var statistics = LaneStatistics()
    statistics.lagNs = EventLoop.clockNs() &- askedNs
    statistics.inFlight = sending.dispatcher.inFlight
    statistics.accepted = sending.decider.accepted
    statistics.connections = sending.destinations.connections
    statistics.isConnected = redis.isReady && hasShard
    statistics.trouble = redis.isReady ? place.misplacement : trouble
    return statistics
  }

  /// The state of its connections, and how long answers took since it began.
  func figures() -> WorkerFigures {
    var figures = WorkerFigures()
    figures.connections = sending.destinations.figures
    figures.answers = sending.latency.all
    figures.redis = redis.answerTimes
    return figures
  }

  func beat(worker: String, fields: [(String, String)]) async {
    if settings.shared.name?.isMissing == true { startUncounted { await $0.claimAnew() } }
    // A worker that has taken its leave must not come back by a late beat.
    guard !life.isEnded, hasShard else { return }
    await reporter.beat(worker: worker, fields: fields)
  }

  func appendTimeline(_ statistics: LaneStatistics, acceptedPerSecond: Int) async {
    guard hasShard else { return }
    await reporter.appendTimeline(statistics, acceptedPerSecond: acceptedPerSecond)
  }
}
