import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Server

/// Routes over two shards, each a Redis of its own: the app `shop` lives in `eu`, and `blog` in `main`, the home.
@Suite struct ShardRouteTests {
  private static func with(_ body: @Sendable (RouteStage, RedisServer) async throws -> Void)
    async throws
  {
    try await RedisServer.with { eu in
      var configuration = Configuration(apps: [
        AppConfiguration(id: "shop", pushesPerSecond: 500, shard: "eu"),
        AppConfiguration(id: "blog"),
      ])
      let home = try ShardID("main")
      configuration.shards = ShardList(
        [
          ShardConfiguration(id: home, redis: RedisConfiguration()),
          ShardConfiguration(
            id: try ShardID("eu"), redis: RedisConfiguration(url: try RedisURL(eu.url))),
        ], home: home)
      try await RouteStage.with(configuration) { stage in try await body(stage, eu) }
    }
  }

  private static func queued(_ stage: RouteStage, _ shard: String) async throws -> Int? {
    try await stage.services.session.run(in: .shard(try ShardID(shard))) {
      store throws(RedisError) in
      try await store.connection.call(
        RedisCommand("XLEN", store.keys.jobs(.normal))
      ) { $0.integer }
    }
  }

  private static let job = #"{"audience":{"users":["u"]},"notification":{"title":"t"}}"#

  @Test("a job goes to its app's shard, and a fleet is told with each of its shards")
  func apart() async throws {
    try await Self.with { stage, _ in
      #expect(try await stage.ask(.post, "/v1/apps/shop/jobs", Self.job).status == 202)
      #expect(try await Self.queued(stage, "eu") == 1)
      #expect(try await Self.queued(stage, "main") == 0)
      #expect(try await stage.ask(.post, "/v1/apps/blog/jobs", Self.job).status == 202)
      #expect(try await Self.queued(stage, "main") == 1)
      let fleet = try await stage.ask(.get, "/v1/fleet")
      #expect(fleet.strings("shards", "shard") == ["main", "eu"])
      #expect(fleet.header("pushpool-shards-left-out") == nil)
    }
  }

  @Test(
    "a course says whose each figure is and is summed up, and a rate is known where it is drawn from"
  )
  func figures() async throws {
    try await Self.with { stage, _ in
      for (shard, backlog) in [("main", "2"), ("eu", "40")] {
        _ = try await stage.services.session.run(in: .shard(try ShardID(shard))) {
          store throws(RedisError) in
          let nowS = try await store.serverSeconds()
          let inLastMinuteMs = (nowS - nowS % 60) * 1_000 - 30_000
          return try await store.connection.call(
            RedisCommand(
              "XADD", store.keys.timeline, "\(inLastMinuteMs)-0", "backlog", backlog,
              "oldest_ready_ms", backlog))
        }
      }
      _ = try await stage.services.session.run(in: .shard(try ShardID("eu"))) {
        store throws(RedisError) in
        try await FleetStore(connection: store.connection, prefix: store.keys.prefix).rates
          .draw(RateLimit(name: "app:shop", perSecond: 500), wanted: 1)
      }
      let timeline = try await stage.ask(.get, "/v1/timeline")
      let entries = (timeline["entries"]?.arrayValue ?? []).compactMap(\.objectValue)
      #expect(
        Set(entries.map { "\($0["shard"]?.stringValue ?? "") \($0["backlog"]?.int64Value ?? -1)" })
          == ["main 2", "eu 40"])
      let reading = try await FleetReader(stage.services).look()
      let minutes = reading.sections[.history]?.objectValue?["minutes"]?.arrayValue ?? []
      #expect(minutes.compactMap { $0.objectValue?["backlog"]?.int64Value } == [42])
      #expect(minutes.compactMap { $0.objectValue?["oldest_ready_ms"]?.int64Value } == [40])
      let fleet = try await stage.ask(.get, "/v1/fleet")
      #expect(fleet.strings("rates", "app") == ["shop"])
      let drawn = fleet["rates"]?.arrayValue?.first?.objectValue?["drawn_at"]?.int64Value
      #expect(drawn ?? 0 > 1_700_000_000_000)
    }
  }

  @Test("equal entries of two shards are told apart, and one without its shard is refused")
  func letters() async throws {
    try await Self.with { stage, _ in
      for shard in ["main", "eu"] {
        _ = try await stage.services.session.run(in: .shard(try ShardID(shard))) {
          store throws(RedisError) in
          try await store.connection.call(
            RedisCommand(
              "XADD", store.keys.dead, "5-1", "at", "5", "kind", "job", "reason", "invalid_job",
              "app", "shop", "id", shard, "priority", "normal", "job", "{}", "truncated", "0"))
        }
      }
      let list = try await stage.ask(.get, "/v1/dead-letters")
      #expect(list.strings("letters", "entry") == ["eu/5-1", "main/5-1"])
      #expect(try await stage.ask(.delete, "/v1/dead-letters/5-1").status == 422)
      #expect(try await stage.ask(.delete, "/v1/dead-letters/eu%2F5-1").status == 204)
      let rest = try await stage.ask(.get, "/v1/dead-letters")
      #expect(rest.strings("letters", "entry") == ["main/5-1"])
    }
  }

  @Test("the dead letters of an app need its own shard alone, and tell of no other")
  func ownLetters() async throws {
    try await Self.with { stage, eu in
      _ = try await stage.services.session.run(in: .home) { store throws(RedisError) in
        try await store.connection.call(
          RedisCommand(
            "XADD", store.keys.dead, "5-1", "at", "5", "kind", "job", "reason", "invalid_job",
            "app", "blog", "id", "j", "priority", "normal", "job", "{}", "truncated", "0"))
      }
      #expect(try await stage.ask(.get, "/v1/dead-letters").status == 200)
      await eu.stop()
      let list = try await stage.ask(.get, "/v1/apps/blog/dead-letters")
      #expect(list.strings("letters", "entry") == ["main/5-1"])
      #expect(list.header("pushpool-shards-left-out") == nil)
      let summary = try await stage.ask(.get, "/v1/apps/blog/dead-letters:summary")
      #expect(summary.status == 200 && summary.header("pushpool-shards-left-out") == nil)
      #expect(try await stage.ask(.get, "/v1/apps/shop/dead-letters").status == 503)
      let drop = try await stage.ask(
        .post, "/v1/apps/blog/dead-letters:drop", #"{"expected_count":1}"#)
      #expect(drop.status == 200 && drop["dropped"]?.int64Value == 1)
      // Of all apps nothing is dropped while one shard is away.
      #expect(
        try await stage.ask(.post, "/v1/dead-letters:drop", #"{"expected_count":0}"#).status == 503)
    }
  }

  @Test("a shard that is away stops the requests about its apps, and lists say that it is missing")
  func away() async throws {
    try await Self.with { stage, eu in
      #expect(try await stage.ask(.post, "/v1/apps/shop/jobs", Self.job).status == 202)
      await eu.stop()
      #expect(try await stage.ask(.post, "/v1/apps/shop/jobs", Self.job).status == 503)
      #expect(try await stage.ask(.post, "/v1/apps/blog/jobs", Self.job).status == 202)
      for path in ["/v1/fleet", "/v1/jobs", "/v1/dead-letters", "/v1/switches"] {
        let answer = try await stage.ask(.get, path)
        #expect(answer.status == 200, "\(path)")
        #expect(answer.header("pushpool-shards-left-out") == "eu", "\(path)")
      }
      let fleet = try await stage.ask(.get, "/v1/fleet")
      let present = fleet["shards"]?.arrayValue?.map { $0.objectValue?["present"]?.boolValue }
      #expect(present == [true, false])
      // The dashboard shows it above all alarms.
      let reader = FleetReader(stage.services)
      let alarms = try await reader.look().sections[.alarms]?.objectValue?["alarms"]?.arrayValue
      #expect(alarms?.first?.objectValue?["alarm"]?.stringValue == "shard|eu")
    }
  }
}
