import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Synchronization
import Testing
import TestSupport

/// A session of a fleet with two shards, each a server of its own.
@Suite struct ShardedSessionTests {
  private static let client = StoreSession.Client(name: "pushpool-test", version: "0")

  /// Two servers, and a configuration in which the app `shop` lives in the shard `eu` and `blog` at home.
  private struct Fleet: Sendable {
    let main: RedisServer
    let eu: RedisServer
    let configuration: Configuration

    func open(on lane: TestLane) async throws -> StoreSession {
      try await StoreSession.open(
        configuration, as: .operator, for: ShardedSessionTests.client, on: lane.loop)
    }
  }

  /// - Parameter aheadSeconds: how far the clock of the home is ahead of the other's.
  private static func with(
    euPassword: String? = nil, aheadSeconds: Int64 = 0,
    _ body: @Sendable (Fleet, TestLane) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    var options = RedisServer.Options()
    if aheadSeconds != 0 {
      let shift = try ClockShift(file: folder.file("clock"))
      try shift.set(realtimeMs: aheadSeconds * 1_000)
      options.clock = shift
    }
    try await RedisServer.with(options) { main in
      try await RedisServer.with { eu in
        var configuration = Configuration(apps: [
          AppConfiguration(id: "shop", shard: "eu"), AppConfiguration(id: "blog"),
        ])
        let home = try ShardID("main")
        configuration.shards = ShardList(
          [
            ShardConfiguration(
              id: home, redis: RedisConfiguration(url: try RedisURL(main.url))),
            ShardConfiguration(
              id: try ShardID("eu"),
              redis: RedisConfiguration(
                url: try RedisURL(eu.url), passwordFile: euPassword, prefix: "push")),
          ], home: home)
        try await body(
          Fleet(main: main, eu: eu, configuration: configuration), try TestLane())
      }
    }
  }

  private static func installation(_ app: String) throws -> Installation {
    try Installation(
      bytes: Array(
        #"{"app":"\#(app)","user":"u","network":"fcm","token":"\#(app)-token-0123456789"}"#.utf8))
  }

  private static func install(
    _ app: String, _ session: StoreSession
  ) async throws(StoreFailure) {
    guard let installation = try? installation(app) else {
      throw StoreFailure(.invalid, "the test's installation is none")
    }
    _ = try await session.run(in: .app(app)) { store throws(RedisError) in
      try await InstallationOffice.install(installation, in: store)
    }
  }

  /// The shards that have a binding of an app's user.
  private static func holders(_ app: String, _ session: StoreSession) async throws -> [String] {
    try await session.ask(in: .all) { stores throws(RedisError) in
      var names: [String] = []
      for store in stores {
        let devices = try await InstallationLookup(stores: [store]).devices(app: app, user: "u")
        if !devices.isEmpty { names.append(store.id.name) }
      }
      return names
    }
  }

  @Test("what is an app's goes to its shard alone, and what the fleet has once to the home")
  func placement() async throws {
    try await Self.with { fleet, lane in
      let session = try await fleet.open(on: lane)
      for app in ["shop", "blog", "unknown"] { try await Self.install(app, session) }
      #expect(try await Self.holders("shop", session) == ["eu"])
      #expect(try await Self.holders("blog", session) == ["main"])
      #expect(try await Self.holders("unknown", session) == ["main"])
      try await session.atHome { fleet throws(RedisError) in
        try await fleet.acts.add(Act("key.create"), by: "ann", from: "192.0.2.1", nowMs: 1)
      }
      let acts = try await session.ask(in: .all) { stores throws(RedisError) in
        var counts: [Int?] = []
        for store in stores {
          counts.append(
            try await store.connection.call(RedisCommand("XLEN", store.keys.acts)) { $0.integer })
        }
        return counts
      }
      #expect(acts == [1, 0])
      #expect(session.shards.map(\.name) == ["main", "eu"])
      await session.close()
    }
  }

  @Test("a session connects to the shards that are needed, and to no other")
  func lazily() async throws {
    try await Self.with { fleet, lane in
      let session = try await fleet.open(on: lane)
      try await Self.install("shop", session)
      let clients = try await session.run(in: .shard(try ShardID("eu"))) {
        store throws(RedisError) in
        try await store.connection.call(RedisCommand("CLIENT", "LIST")).string ?? ""
      }
      #expect(clients.contains("name=pushpool-test"))
      let others = try ChildProcess(
        "redis-cli", ["-s", fleet.main.socketPath, "CLIENT", "LIST"], output: .pipe)
      let list = await others.standardOutput?.rest(timeoutMs: 60_000) ?? ""
      #expect(list.contains("id=") && !list.contains("pushpool-test"))
      await session.close()
    }
  }

  @Test("a shard that is away stops what is about its apps, and nothing else")
  func away() async throws {
    try await Self.with { fleet, lane in
      await fleet.eu.stop()
      let session = try await fleet.open(on: lane)
      try await Self.install("blog", session)
      for _ in 0..<2 {
        let failure = await #expect(throws: StoreFailure.self) {
          try await Self.install("shop", session)
        }
        #expect(failure?.kind == .unavailable)
        let text = failure?.description ?? ""
        #expect(text.contains(fleet.eu.socketPath) && text.contains("(shard eu)"), "\(text)")
      }
      // Those who look are told of the rest, and what is missing.
      let present = try await session.ask(in: .present) { stores throws(RedisError) in
        stores.map(\.id)
      }
      #expect(present.map(\.name) == ["main"])
      let absences = await session.absences(beside: present)
      #expect(absences.map(\.shard.name) == ["eu"])
      #expect(
        absences.first?.sentence.hasPrefix("shard eu is left out: cannot use Redis at") == true)
      // Who needs all of them gets no part.
      let refusal = await #expect(throws: StoreFailure.self) {
        _ = try await session.ask(in: .all) { stores throws(RedisError) in
          for store in stores { _ = try await store.connection.call(RedisCommand("PING")) }
        }
      }
      #expect(refusal?.description.contains("(shard eu)") == true)
      #expect(refusal?.description.contains(fleet.main.socketPath) == false)
      // It comes back by itself.
      try await fleet.eu.restart()
      let deadline = ContinuousClock.now + .seconds(60)
      var count = 1
      while count < 2, ContinuousClock.now < deadline {
        count = try await session.ask(in: .present) { stores throws(RedisError) in stores.count }
        await session.sleep(ms: 20)
      }
      #expect(count == 2)
      try await Self.install("shop", session)
      await session.close()
    }
  }

  @Test("a shard that is lost amid a look is left out of it")
  func lostAmid() async throws {
    try await Self.with { fleet, lane in
      let session = try await fleet.open(on: lane)
      let looks = Mutex(0)
      let eu = fleet.eu
      let seen = try await session.ask(in: .present) { stores throws(RedisError) in
        if looks.withLock({
          $0 += 1; return $0
        }) == 1 {
          await eu.stop()
        }
        var names: [String] = []
        for store in stores {
          _ = try await store.connection.call(RedisCommand("PING"))
          names.append(store.id.name)
        }
        return names
      }
      #expect(seen == ["main"] && looks.withLock { $0 } == 2)
      await session.close()
    }
  }

  @Test("a session that waits for nobody tells of each shard what becomes of it")
  func opening() async throws {
    try await Self.with { fleet, lane in
      await fleet.eu.stop()
      let (news, source) = AsyncStream<String>.makeStream()
      let session = try await StoreSession.opening(
        fleet.configuration, as: .operator, for: Self.client, on: lane.loop
      ) { shard, failure in
        source.yield("\(shard.name) \(failure == nil ? "ready" : "away")")
      }
      var told: Set<String> = []
      for await word in news {
        told.insert(word)
        if told.count == 2 { break }
      }
      #expect(told == ["main ready", "eu away"])
      try await Self.install("blog", session)
      await #expect(throws: StoreFailure.self) { try await Self.install("shop", session) }
      await session.close()
    }
  }

  @Test("a shard whose password cannot be read is refused at once, by its field")
  func misconfigured() async throws {
    try await Self.with(euPassword: "/nonexistent") { fleet, lane in
      let failure = await #expect(throws: StoreFailure.self) { _ = try await fleet.open(on: lane) }
      #expect(failure?.kind == .misconfigured)
    }
  }

  @Test("a place that says that it is another shard is not used")
  func misplaced() async throws {
    try await Self.with { fleet, lane in
      func set(_ name: String) async throws {
        let child = try ChildProcess(
          "redis-cli", ["-s", fleet.eu.socketPath, "SET", "push:shard", name], output: .pipe)
        #expect(await child.waitForExit(timeoutMs: 60_000) == .code(0))
      }
      try await set("us")
      let session = try await fleet.open(on: lane)
      let failure = await #expect(throws: StoreFailure.self) {
        try await Self.install("shop", session)
      }
      let text = failure?.description ?? ""
      #expect(text.contains("are the shard us already"), "\(text)")
      try await Self.install("blog", session)
      await session.close()
      try await set("eu")
      let again = try await fleet.open(on: lane)
      try await Self.install("shop", again)
      await again.close()
    }
  }

  @Test("a shard that is there and refuses is left out of a look, and the look says why")
  func refuses() async throws {
    try await Self.with { fleet, lane in
      let session = try await fleet.open(on: lane)
      func look() async throws -> [ShardID] {
        try await session.ask(in: .present) { stores throws(RedisError) in
          for store in stores { _ = try await store.connection.call(RedisCommand("XLEN", "k")) }
          return stores.map(\.id)
        }
      }
      #expect(try await look().count == 2)
      _ = try await session.run(in: .shard(try ShardID("eu"))) { store throws(RedisError) in
        try await store.connection.call(RedisCommand("ACL", "SETUSER", "default", "-xlen"))
      }
      let present = try await look()
      #expect(present.map(\.name) == ["main"])
      let sentence = await session.absences(beside: present).first?.sentence ?? ""
      #expect(
        sentence.hasPrefix("shard eu is left out") && sentence.contains("xlen"), "\(sentence)")
      // What all of them refuse is no absence.
      _ = try await session.run(in: .home) { store throws(RedisError) in
        try await store.connection.call(RedisCommand("ACL", "SETUSER", "default", "-xlen"))
      }
      await #expect(throws: StoreFailure.self) { _ = try await look() }
      await session.close()
    }
  }

  @Test("alarms of two shards about the same thing are two, and those about a worker are one")
  func alarms() async throws {
    try await Self.with { fleet, lane in
      let session = try await fleet.open(on: lane)
      let (snapshot, metrics) = try await session.ask(in: .all) { stores throws(RedisError) in
        for store in stores {
          for field in ["unsafe_redis|eviction", "memory|w"] {
            try await store.alarms.raise(field, by: "w", lifeMs: 60_000, message: "m")
          }
        }
        return (
          try await FleetSnapshot.read(stores), try await FleetMetrics.read(stores, of: 2)
        )
      }
      let expected = [
        "memory|w m", "unsafe_redis|eviction shard eu: m", "unsafe_redis|eviction shard main: m",
      ]
      for alarms in [snapshot.alarms, metrics.alarms] {
        let found = alarms.filter { $0.message == "m" }.map { "\($0.field) \($0.sentence)" }
        #expect(found.sorted() == expected)
      }
      await session.close()
    }
  }

  @Test(
    "a snapshot tells of each shard and of the sum, and a clock that is ahead makes nobody silent",
    arguments: [3_600, -3_600])
  func snapshot(aheadSeconds: Int64) async throws {
    try await Self.with(aheadSeconds: aheadSeconds) { fleet, lane in
      let session = try await fleet.open(on: lane)
      let (snapshot, present) = try await session.ask(in: .present) { stores throws(RedisError) in
        for (number, store) in stores.enumerated() {
          for job in 0...number {
            _ = try await store.jobs.enqueue(Array("{\"id\":\"\(job)\"}".utf8), priority: .normal)
          }
          try await store.workers.beat(worker: "w", fields: [("lanes", "2")])
          try await store.workers.beat(worker: "of-\(number)", fields: [("lanes", "1")])
          try await store.alarms.raise(
            "trimmed|normal", by: "w", lifeMs: 60_000, message: "m\(number)")
        }
        return (try await FleetSnapshot.read(stores), stores.map(\.id))
      }
      #expect(snapshot.shards.map(\.shard.name) == ["main", "eu"])
      #expect(snapshot.shards.map(\.newJobs) == [1, 2])
      #expect(snapshot.queues.jobs[.normal] == 3)
      // By the clock of the first one, whichever they beat in.
      #expect(Set(snapshot.living.map(\.worker)) == ["w", "of-0", "of-1"])
      for beat in snapshot.workers.map(\.lastBeatMs) {
        #expect(abs(beat - snapshot.nowMs) < 600_000)
      }
      let alarms = snapshot.alarms.filter { $0.field == "trimmed|normal" }
      #expect(alarms.count == 2 && alarms.allSatisfy { abs($0.atMs - snapshot.nowMs) < 600_000 })
      let json = snapshot.json(without: await session.absences(beside: present)).objectValue
      let shards = json?["shards"]?.arrayValue?.compactMap(\.objectValue)
      #expect(shards?.map { $0["shard"]?.stringValue } == ["main", "eu"])
      #expect(shards?.map { $0["jobs"]?.int64Value } == [1, 2])
      let alarm = Alarm(ofAbsentShard: "eu", sinceMs: 7_200_000, message: "m")
      #expect(alarm.byClock(behindMs: 3_600_000).atMs == 3_600_000)
      await session.close()
    }
  }
}
