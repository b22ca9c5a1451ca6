import LocalServices
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

/// The parts of a lane that sends to APNs for `shop`; loop-bound.
@dynamicMemberLookup
final class LaneStage {
  let parts: LaneParts
  let lines = LogLines()
  /// The Redis of `with`.
  private(set) var server: RedisServer?
  /// Places of runs that a lane's tasks would go on with, and the signal that is raised with each.
  private(set) var handedOn: [Int] = []
  let handedOnSignal: LoopSignal
  /// How many tasks a lane would have begun to tell of what has ended, and have not run.
  private(set) var telling = 0

  init(
    _ loop: EventLoop, _ store: ShardStore, _ directory: ProviderDirectory, consumer: String,
    leaseMs: UInt64 = 10_000, sendsDirectly: Bool = false, shard: ShardID = .only,
    doors: ShardDoors? = nil, elsewhere: AppsElsewhere = AppsElsewhere()
  ) {
    var shared = SharedParts(clock: FleetClock(), configuration: ConfigurationStanding())
    shared.doors = doors
    let settings = LaneSettings(
      worker: "test", consumer: consumer, shard: shard, prefix: "{pp}",
      redis: RedisEndpoint(endpoint: .unix(path: "/nowhere")), leaseMs: leaseMs, drainMs: 1_000,
      connectionsMax: 1, streamsMax: 10, requestTimeoutMs: 1_000, number: 0,
      sendsDirectly: sendsDirectly, shared: shared)
    let snapshot = TestDirectory.snapshot(directory, apps: "shop")
    parts = LaneParts(
      loop: loop, settings: settings, store: store,
      fleet: FleetStore(connection: store.connection, prefix: settings.prefix),
      snapshot: WorkerSnapshot(
        directory: directory, routes: snapshot.routes, rules: snapshot.rules, elsewhere: elsewhere),
      log: lines.logger)
    handedOnSignal = LoopSignal(loop: loop)
    parts.starter.onBegun = { _ in }
    // The loop's timers outlive a test that leaves something under way.
    parts.direct.onHandedOn = { [weak self] in
      self?.handedOn.append($0)
      self?.handedOnSignal.raise()
    }
    parts.direct.onReady = { [weak self] in self?.telling += 1 }
    parts.sending.room.nowNs = { 0 }
    // What is switched off was read just now, however slow the machine is.
    parts.switches.nowNs = { 0 }
  }

  /// Begins a turn of the fetcher, up to where it waits for Redis's first answer.
  /// - Returns: the signal that is raised when it has ended.
  func beginFetching(on lane: isolated TestLane) async -> LoopSignal {
    let end = LoopSignal(loop: lane.loop)
    Task {
      _ = lane
      _ = await parts.fetcher.turn()
      end.raise()
    }
    await Task.yield()
    return end
  }

  /// So many pushes left in each of the last two spans of time: it stands still otherwise, however slow the machine is.
  func send(_ count: Int, to destination: Destination? = nil) {
    for _ in 0..<2 {
      let nowNs = parts.sending.room.nowNs() + WorkerLimits.directSpanMs * 1_000_000
      parts.sending.room.nowNs = { nowNs }
      parts.sending.room.noteSent(
        count, to: destination ?? parts.sending.destinations.destination(0))
      _ = parts.sending.room.leaving
    }
  }

  /// Does what the lane's tasks would do now for jobs that are sent from their entries, and does not wait with them.
  func carryOn() async {
    while !handedOn.isEmpty || telling > 0 {
      while telling > 0 {
        telling -= 1
        await parts.direct.endReady()
      }
      guard let slot = handedOn.popLast(), let direct = parts.runs.direct(at: slot) else {
        continue
      }
      if parts.direct.untold[slot] != nil {
        await parts.direct.carry(direct)
      } else if case .chunk(let chunk) = await parts.direct.step(direct) {
        _ = await parts.carrier.step(chunk)
      }
    }
    _ = await handedOnSignal.wait(upToMs: 0)
  }

  subscript<Part>(dynamicMember part: KeyPath<LaneParts, Part>) -> Part { parts[keyPath: part] }

  /// Runs the body with them, on the store of an empty Redis.
  /// - Parameters:
  ///   - leaseMs: 0 lets each look renew every lease, and take over whatever another holds.
  ///   - sendsDirectly: whether jobs to few users are sent from their entries.
  ///   - shard: its own, `doors` the way to all, and `elsewhere` the apps of the others.
  static func with<Value: Sendable>(
    consumer: String = "test-0", leaseMs: UInt64 = 10_000, sendsDirectly: Bool = false,
    limits: [RateLimit] = [], shard: ShardID = .only, doors: ShardDoors? = nil,
    elsewhere: AppsElsewhere = AppsElsewhere(),
    _ body: @Sendable (isolated TestLane, LaneStage) async throws -> Value
  ) async throws -> Value {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint, library: StoreLibrary.library)
      let stage = LaneStage(
        lane.loop, ShardStore(connection: connection, prefix: "{pp}"),
        try TestDirectory.of(.production, limits: limits), consumer: consumer, leaseMs: leaseMs,
        sendsDirectly: sendsDirectly, shard: shard, doors: doors, elsewhere: elsewhere)
      stage.server = server
      defer {
        stage.sending.close()
        connection.close()
      }
      return try await body(lane, stage)
    }
  }

  /// Takes a job in as producers write it.
  func takeIn(_ job: String) async throws {
    _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: .normal)
    _ = try await parts.admitter.admitNext(abandonedForMs: nil)
  }

  /// Takes a job to these users in.
  func takeIn(id: String, users: [String], app: String = "shop") async throws {
    try await enqueue(id, users: users, app: app)
    _ = try await parts.admitter.admitNext(abandonedForMs: nil)
  }

  /// Enqueues a job to these users.
  func enqueue(
    _ id: String, _ priority: Priority = .normal, users: [String] = ["a"], app: String = "shop"
  ) async throws {
    let list = users.map { "\"\($0)\"" }.joined(separator: ",")
    let job =
      #"{"id":"\#(id)","app":"\#(app)","audience":{"users":[\#(list)]},"notification":{"title":"Hi"}}"#
    _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: priority)
  }

  /// Installs an APNs token.
  func install(
    _ user: String, _ token: String, _ environment: PushEnvironment = .production
  ) async throws {
    _ = try await parts.store.installations.install(
      Installation(
        app: "shop", user: user, token: DeviceToken(stored: token, network: .apns),
        environment: environment))
  }

  /// Claims a chunk and begins to carry it.
  func beginNext() async throws -> ChunkRun {
    let claim = try #require(
      try await parts.store.chunks.claim(consumer: parts.settings.consumer, max: 1).first)
    try await parts.starter.begin(claim)
    return try #require(parts.runs.chunk(carrying: claim))
  }

  /// Has Redis close the connection.
  func loseConnection() async {
    _ = try? await redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
  }

  func untilConnected() async throws {
    for _ in 0..<2_000 {
      if (try? await redis("PING")) != nil { return }
      await parts.loop.sleep(ms: 5)
    }
    throw RedisError.unavailable(reason: "never connected again")
  }

  func record(_ id: String) async throws -> JobRecord {
    try #require(try await parts.store.jobs.record(app: "shop", id: id))
  }

  /// How often Redis was called by a command, those inside functions included.
  func calls(_ command: String) async throws -> Int {
    let text = try await redis("INFO", "commandstats").string ?? ""
    let line = text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_\(command):") }
    guard let line else { return 0 }
    return try #require(Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }))
  }

  func redis(_ words: String...) async throws -> RESPValue {
    var command = RedisCommand()
    for word in words { command.append(word) }
    return try await parts.store.connection.call(command)
  }
}
