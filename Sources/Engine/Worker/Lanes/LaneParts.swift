internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Store

/// The parts of a lane, each with those that it needs. Bound to the loop.
final class LaneParts {
  let context: LaneContext
  /// Raised when there may be jobs to take in.
  let admitSignal: LoopSignal

  // Sending.
  let runs = RunTable()
  let sending: SendingParts
  let rateKeeper: RateKeeper

  // Chunks.
  let tracer: Tracer
  let materials: MaterialStore
  let leases: LeaseKeeper
  let recoverer: Recoverer
  let starter: ChunkStarter
  let fetcher: Fetcher
  let resolver: BindingResolver
  let carrier: ChunkCarrier
  let directStarter: DirectStarter
  let direct: DirectCarrier

  // Intake.
  let admitter: Admitter
  let intake: Intake
  let largeIntake: LargeIntake
  /// Brings jobs to other shards; nil in a fleet of one.
  let passingOn: PassingOn?

  var loop: EventLoop { context.loop }
  var store: ShardStore { context.store }
  var settings: LaneSettings { context.settings }
  var life: LaneLife { context.life }
  var switches: SwitchWatch { context.switches }
  var reasons: ReasonLog { context.reasons }
  var fetchSignal: LoopSignal { context.fetchSignal }

  init(
    loop: EventLoop, settings: LaneSettings, store: ShardStore, fleet: FleetStore,
    snapshot: WorkerSnapshot, log: Logger
  ) {
    let clock = settings.shared.clock
    let consumer = settings.consumer
    let reasons = ReasonLog(log: log)
    let life = LaneLife()
    let fetchSignal = LoopSignal(loop: loop)
    admitSignal = LoopSignal(loop: loop)

    sending = SendingParts(
      loop: loop, runs: runs, directory: snapshot.directory, fleet: settings.shared.routes,
      settings: SendingSettings(
        worker: settings.worker,
        connections: ConnectionSettings(
          connectionsMax: settings.connectionsMax, streamsMax: settings.streamsMax,
          requestTimeoutMs: settings.requestTimeoutMs),
        connectionsKept: settings.connectionsKept, shortage: settings.shared.shortage),
      clock: clock, reasons: reasons, log: log)
    let (room, gate, congestion) = (sending.room, sending.gate, sending.congestion)
    let laneSnapshot = LaneSnapshot(snapshot)
    rateKeeper = RateKeeper(
      rates: fleet.rates, home: settings.shared.home?.rates, snapshot: laneSnapshot,
      reasons: reasons)

    tracer = Tracer(loop: loop, store: store.traces, by: consumer, clock: clock)
    materials = MaterialStore(store: store, tracer: tracer)
    let switches = SwitchWatch(
      store: store, fleet: settings.shared.switches, nowNs: { loop.nowNs }, log: log,
      reasons: reasons,
      isLogging: settings.isHousekeeper, onChange: { gate.apply($0) })
    leases = LeaseKeeper(
      loop: loop, chunks: store.chunks, runs: runs, consumer: consumer, leaseMs: settings.leaseMs,
      log: log, onStanding: { gate.apply($0, $1) })
    recoverer = Recoverer(
      chunks: store.chunks, consumer: consumer, leaseMs: settings.leaseMs,
      onDue: { fetchSignal.raise() })
    resolver = BindingResolver(
      loop: loop, store: store,
      receivers: ReceiverReader(store: store, consumer: consumer, reasons: reasons),
      room: room, gate: gate, router: sending.router, composer: sending.composer)
    let directStarter = DirectStarter(
      isOn: settings.sendsDirectly, runs: runs, room: room, congestion: congestion, gate: gate,
      switches: switches, life: life, signal: admitSignal)
    self.directStarter = directStarter
    let context = LaneContext(
      loop: loop, store: store, settings: settings, snapshot: laneSnapshot, life: life,
      switches: switches,
      reasons: reasons, log: log, fetchSignal: fetchSignal)
    self.context = context
    starter = ChunkStarter(
      context, materials: materials, runs: runs, gate: gate, congestion: congestion)
    fetcher = Fetcher(
      context, runs: runs, room: room, gate: gate, recoverer: recoverer, starter: starter)
    carrier = ChunkCarrier(
      context, runs: runs, room: room, gate: gate, resolver: resolver, leases: leases,
      onRoom: { directStarter.noteRoom() })
    direct = DirectCarrier(
      context, runs: runs, room: room, gate: gate, resolver: resolver, chunks: carrier,
      onResolved: { directStarter.noteResolved($0) }, onRoom: { directStarter.noteRoom() })

    let elsewhere = settings.shared.doors.map { doors in
      JobsElsewhere(loop: loop, shards: doors.shards.filter { $0 != settings.shard })
    }
    let admitter = Admitter(
      context: context, materials: materials,
      large: LargeJobs(loop: loop, roomSignal: admitSignal), elsewhere: elsewhere,
      direct: directStarter, directCarrier: direct)
    self.admitter = admitter
    passingOn = settings.shared.doors.flatMap { doors in
      elsewhere.map { PassingOn(context, admitter: admitter, jobs: $0, doors: doors) }
    }
    intake = Intake(context, admitter: admitter, signal: admitSignal)
    directStarter.onFailure = { [unowned intake] in intake.noteFailureBeside($0) }
    largeIntake = LargeIntake(context, admitter: admitter)
  }

  /// Goes by another snapshot from now on. Pushes that wait for what it has no more come back.
  func use(_ snapshot: WorkerSnapshot) {
    context.snapshot.use(snapshot)
    sending.use(snapshot.directory)
  }
}
