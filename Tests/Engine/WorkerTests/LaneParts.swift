import Logging
import Model
import Providers
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Store
@testable import Worker

/// What a lane is made of, each part by itself; loop-bound.
final class LaneParts {
  let loop: EventLoop
  let store: Store
  let settings: LaneSettings
  let lines = LogLines()
  let life = LaneLife()
  let reasons: ReasonLog
  let runs = RunTable()
  let dispatcher: Dispatcher
  let materials: MaterialStore
  let switches: SwitchWatch
  let leases: LeaseKeeper
  let recoverer: Recoverer
  let starter: ChunkStarter
  let fetcher: Fetcher
  let carrier: ChunkCarrier
  let resolver: BindingResolver
  let admitter: Admitter
  let intake: Intake
  let fetchSignal: LoopSignal
  let admitSignal: LoopSignal

  init(_ loop: EventLoop, _ store: Store, _ directory: ProviderDirectory, consumer: String) throws {
    self.loop = loop
    self.store = store
    let log = lines.logger
    let clock = FleetClock()
    let routes = FleetRoutes(own: directory.routes(of: ["shop"]))
    let settings = LaneSettings(
      worker: "test", consumer: consumer, prefix: "{pp}",
      redis: RedisEndpoint(endpoint: .unix(path: "/nowhere")), leaseMs: 10_000, drainMs: 1_000,
      connectionsMax: 1, streamsMax: 10, requestTimeoutMs: 1_000, number: 0, unroutedMs: 60_000,
      eventsPerMinute: ["shop": 2], retentionSeconds: 7_200,
      localTimes: LocalTimes(homes: ["shop": "Asia/Tokyo"]), idle: IdleLanes(), clock: clock,
      suspects: SuspectGate(), shortage: DescriptorShortage(),
      routes: routes)
    self.settings = settings
    reasons = ReasonLog(log: log)
    let dispatcher = Dispatcher.of(loop, runs, directory, routes, reasons, log)
    self.dispatcher = dispatcher
    let tracer = Tracer(loop: loop, store: store.traces, by: consumer, clock: clock)
    materials = MaterialStore(store: store, tracer: tracer)
    fetchSignal = LoopSignal(loop: loop)
    admitSignal = LoopSignal(loop: loop)
    switches = SwitchWatch(
      store: store, nowNs: { loop.nowNs }, log: log, reasons: reasons, isLogging: true,
      onChange: { dispatcher.apply($0) })
    leases = LeaseKeeper(
      loop: loop, chunks: store.chunks, runs: runs, consumer: consumer, leaseMs: 0, log: log,
      onStanding: { dispatcher.apply($0, $1) })
    recoverer = Recoverer(
      chunks: store.chunks, consumer: consumer, leaseMs: 0,
      onDue: { [fetchSignal] in fetchSignal.raise() })
    starter = ChunkStarter(
      loop: loop, store: store, settings: settings, materials: materials, runs: runs,
      dispatcher: dispatcher, switches: switches, life: life, reasons: reasons, log: log)
    starter.onBegun = { _ in }
    fetcher = Fetcher(
      loop: loop, store: store, settings: settings, runs: runs, dispatcher: dispatcher,
      switches: switches, recoverer: recoverer, starter: starter, reasons: reasons, log: log,
      signal: fetchSignal)
    resolver = BindingResolver(
      loop: loop, store: store, consumer: consumer, dispatcher: dispatcher)
    carrier = ChunkCarrier(
      loop: loop, chunks: store.chunks, rates: store.rates, settings: settings, runs: runs,
      dispatcher: dispatcher, resolver: resolver, switches: switches, leases: leases,
      tracer: tracer, life: life, reasons: reasons, log: log, fetchSignal: fetchSignal)
    admitter = Admitter(
      loop: loop, store: store, directory: directory, materials: materials, routes: routes,
      unroutedMs: 60_000, eventsPerMinute: settings.eventsPerMinute,
      localTimes: settings.localTimes,
      retentionSeconds: settings.retentionSeconds, consumer: consumer, log: log,
      reasons: reasons, fetchSignal: fetchSignal, clock: clock,
      large: LargeJobs(loop: loop))
    intake = Intake(
      loop: loop, store: store, admitter: admitter, settings: settings, reasons: reasons,
      signal: admitSignal, fetchSignal: fetchSignal)
  }

  /// Runs the body with the parts of a worker that sends to APNs for `shop`, on the store of an empty Redis.
  static func with<Value: Sendable>(
    consumer: String = "test-0",
    _ body: @Sendable (isolated TestLane, LaneParts) async throws -> Value
  ) async throws -> Value {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint, library: StoreLibrary.library)
      let parts = try LaneParts(
        lane.loop, Store(connection: connection, prefix: "{pp}"), TestDirectory.of(.production),
        consumer: consumer)
      defer {
        parts.dispatcher.close()
        connection.close()
      }
      return try await body(lane, parts)
    }
  }

  /// Takes a job in as producers write it.
  func takeIn(_ job: String) async throws {
    _ = try await store.jobs.enqueue(Array(job.utf8), priority: .normal)
    _ = try await admitter.admitNext(abandonedForMs: nil)
  }

  /// Takes a job to these users of `shop` in.
  func takeIn(id: String, users: [String], app: String = "shop") async throws {
    let list = users.map { "\"\($0)\"" }.joined(separator: ",")
    try await takeIn(
      """
      {"id":"\(id)","app":"\(app)","audience":{"users":[\(list)]},"notification":{"title":"Hi"}}
      """)
  }

  /// Installs an APNs token.
  func install(
    _ user: String, _ token: String, _ environment: PushEnvironment = .production
  ) async throws {
    _ = try await store.installations.install(
      Installation(
        app: "shop", user: user, token: DeviceToken(stored: token, network: .apns),
        environment: environment))
  }

  /// Claims a chunk and begins to carry it.
  func beginNext() async throws -> ChunkRun {
    let claim = try #require(
      try await store.chunks.claim(consumer: settings.consumer, max: 1).first)
    try await starter.begin(claim)
    return try #require(runs.run(carrying: claim))
  }

  /// Has Redis close the connection.
  func loseConnection() async {
    _ = try? await redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
  }

  func untilConnected() async throws {
    for _ in 0..<2_000 {
      if (try? await redis("PING")) != nil { return }
      await loop.sleep(ms: 5)
    }
    throw RedisError.unavailable(reason: "never connected again")
  }

  func record(_ id: String) async throws -> JobRecord {
    try #require(try await store.jobs.record(app: "shop", id: id))
  }

  func redis(_ words: String...) async throws -> RESPValue {
    var command = RedisCommand()
    for word in words { command.append(word) }
    return try await store.connection.call(command)
  }
}

extension Dispatcher {
  static func of(
    _ loop: EventLoop, _ runs: RunTable, _ directory: ProviderDirectory, _ routes: FleetRoutes,
    _ reasons: ReasonLog, _ log: Logger
  ) -> Dispatcher {
    Dispatcher(
      loop: loop, runs: runs, directory: directory, fleet: routes,
      settings: DispatcherSettings(
        worker: "test", connectionsMax: 1, streamsMax: 10, requestTimeoutMs: 1_000,
        shortage: DescriptorShortage()), clock: FleetClock(), reasons: reasons, log: log)
  }
}
