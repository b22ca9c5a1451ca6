import Model
import Redis
import Testing

@testable import Store

/// Routes of apps that stand in Redis: a table that the workers share which have them.
@Suite struct RedisAppRouteTests {
  private static let waitMs: UInt64 = 600_000
  /// A worker without apps of Redis.
  private static let bare = RouteTable(fields: [("shop", "apns|production")])
  /// A worker that has two of them.
  private static let full = RouteTable(
    fields: [("shop", "apns|production")],
    redisApps: ["news": "apns|production", "mail": "fcm|production,fcm|development"])

  /// Enqueues a job of an app, takes it and sets it aside. - Returns: its entry.
  private func passOn(_ store: ShardStore, app: String) async throws -> String {
    let entry = try await store.takeNew()
    let answer = try await store.routes.passOn(
      [JobOfUnknownApp(entry: entry, app: app, id: entry.source, suggestion: nil)],
      consumer: "worker", waitMs: Self.waitMs)[0].get()
    #expect(answer == .ok)
    return entry.entry
  }

  private func announce(
    _ store: ShardStore, _ table: RouteTable
  ) async throws -> RouteNews {
    try await store.routes.announce(table, waitMs: Self.waitMs)
  }

  @Test("apps of Redis are no part of a configuration's digest, and a worker has them all the same")
  func table() {
    #expect(Self.bare.digest == Self.full.digest && Self.bare != Self.full)
    #expect(Self.full.has("news") && Self.full.has("mail", .fcm, .development))
    #expect(!Self.full.has("news", .fcm, .production) && !Self.full.has("game"))
    #expect(Set(Self.full.apps) == ["shop", "news", "mail"] && Self.full.count == 3)
    // The file's app goes before one of Redis of its name.
    let both = RouteTable(
      fields: [("shop", "apns|production")], redisApps: ["shop": "fcm|production"])
    #expect(both.has("shop", .apns, .production) && !both.has("shop", .fcm, .production))
  }

  @Test("what a worker has of Redis is said once for all, and asked for again when it is lost")
  func shares() async throws {
    try await Lane.withStore { _, store in
      let routes = store.routes
      #expect(try await announce(store, Self.bare).hasRedisApps)
      #expect(try await !announce(store, Self.bare).isSharing)
      #expect(try await !announce(store, Self.full).hasRedisApps)
      try await routes.add(redisApps: Self.full.redisApps, waitMs: Self.waitMs)
      #expect(try await announce(store, Self.full).hasRedisApps)
      #expect(try await announce(store, Self.bare).isSharing)
      #expect(try await routes.redisApps() == Self.full.redisApps)
      #expect(try await routes.redisApps(["none", "news"]) == [nil, "apns|production"])
      #expect(try await routes.redisApps([]) == [])
      let page = try await routes.redisAppsPage(after: nil)
      #expect(page.cursor == nil && page.places.count == 2)
      #expect(Dictionary(page.places) { $1 } == Self.full.redisApps)
      // It is no configuration, and nobody is to read it as one.
      #expect(try await announce(store, Self.full).digests == [Self.full.digest])
      let seconds = try await store.redis("TTL", "{pp}:routes:apps").integer
      #expect((600...720).contains(seconds ?? 0))
      try await routes.remove(redisApps: ["mail", "none"])
      #expect(try await routes.redisApps() == ["news": "apns|production"])
      #expect(try await !announce(store, Self.full).hasRedisApps)
    }
  }

  @Test("ten thousand apps of Redis are said and taken back")
  func many() async throws {
    try await Lane.withStore { _, store in
      let places = Dictionary(
        uniqueKeysWithValues: (0..<10_000).map { ("app-\($0)", "apns|production") })
      try await store.routes.add(redisApps: places, waitMs: Self.waitMs)
      let table = RouteTable(fields: [], redisApps: places)
      #expect(try await announce(store, table).hasRedisApps)
      try await store.routes.remove(redisApps: Array(places.keys))
      #expect(try await store.routes.redisApps().isEmpty)
    }
  }

  @Test("work for an app of Redis waits for a worker that has such apps, without an alarm")
  func waits() async throws {
    try await Lane.withStore { _, store in
      let routes = store.routes
      try await routes.add(redisApps: Self.full.redisApps, waitMs: Self.waitMs)
      _ = try await announce(store, Self.full)
      _ = try await announce(store, Self.bare)
      let entry = try await passOn(store, app: "news")
      #expect(try await store.alarms.current(nowMs: 0).isEmpty)
      // Not the one that has none of them.
      #expect(try await !announce(store, Self.bare).hasWork)
      #expect(try await routes.takeJobs(consumer: "bare", for: Self.bare, max: 8).isEmpty)
      #expect(try await announce(store, Self.full).hasWork)
      let jobs = try await routes.takeJobs(consumer: "full", for: Self.full, max: 8)
      #expect(jobs.map(\.entry) == [entry])
    }
  }

  @Test("a worker that leaves an app of Redis out, or has it in its file, is not given its work")
  func exceptions() async throws {
    try await Lane.withStore { _, store in
      let routes = store.routes
      try await routes.add(redisApps: Self.full.redisApps, waitMs: Self.waitMs)
      let leavesOut = RouteTable(
        fields: [("news", RouteTable.leftOut), ("shop", "apns|production")],
        redisApps: ["mail": "fcm|production,fcm|development"])
      _ = try await announce(store, leavesOut)
      let entry = try await passOn(store, app: "news")
      #expect(try await !announce(store, leavesOut).hasWork)
      #expect(try await routes.takeJobs(consumer: "k-0", for: leavesOut, max: 8).isEmpty)
      #expect(!leavesOut.has("news") && leavesOut.leavesOut("news"))
      // It stands aside for another one.
      _ = try await announce(store, Self.full)
      let jobs = try await routes.takeJobs(consumer: "k-1", for: Self.full, max: 8)
      #expect(jobs.map(\.entry) == [entry])
    }
  }

  @Test("the app of a live worker's configuration is known as one, and no longer than it lives")
  func configured() async throws {
    try await Lane.withStore { _, store in
      let routes = store.routes
      let table = RouteTable(
        fields: [("shop", "apns|production"), ("bad", RouteTable.leftOut)],
        redisApps: ["news": "apns|production"])
      try await routes.add(redisApps: table.redisApps, waitMs: Self.waitMs)
      _ = try await announce(store, table)
      let nowMs = try await store.serverMs()
      #expect(try await routes.isConfigured("shop", nowMs: nowMs, orLeavesOut: false))
      #expect(try await !routes.isConfigured("news", nowMs: nowMs, orLeavesOut: true))
      #expect(try await !routes.isConfigured("bad", nowMs: nowMs, orLeavesOut: false))
      #expect(try await routes.isConfigured("bad", nowMs: nowMs, orLeavesOut: true))
      #expect(try await !routes.isConfigured("shop", nowMs: nowMs + 60_000, orLeavesOut: true))
    }
  }
}
