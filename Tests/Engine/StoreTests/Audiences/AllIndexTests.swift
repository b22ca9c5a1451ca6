import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// The index of all follows the bindings.
@Suite struct AllIndexTests {
  private static func all(_ store: ShardStore) async throws -> [String] {
    try await store.members(of: .all)
  }

  @Test func `a user is in it from the first binding to the last one's end`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      try await store.install("ann", "bb")
      #expect(try await Self.all(store) == ["ann"])
      let devices = ["aa", "bb"].map { DeviceToken(stored: $0, network: .apns) }
      _ = try await store.installations.uninstall(app: "shop", token: devices[0])
      #expect(try await Self.all(store) == ["ann"])
      _ = try await store.installations.uninstall(app: "shop", token: devices[1], owner: "bob")
      #expect(try await Self.all(store) == ["ann"])
      _ = try await store.installations.uninstall(app: "shop", token: devices[1])
      #expect(try await Self.all(store) == [])
      try await store.install("ann", "aa", app: "game")
      #expect(try await Self.all(store) == [])
    }
  }

  @Test func `a token that moves takes its former owner out, and a strict install nobody`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      _ = try await store.installations.create(
        Installation(
          app: "shop", user: "eve", token: DeviceToken(stored: "aa", network: .apns)))
      #expect(try await Self.all(store) == ["ann"])
      try await store.install("bob", "aa")
      #expect(try await Self.all(store) == ["bob"])
      try await store.install("ann", "bb")
      try await store.install("bob", "bb")
      #expect(try await Self.all(store) == ["bob"])
      let batch = ["aa", "bb"].map {
        Installation(app: "shop", user: "ann", token: DeviceToken(stored: $0, network: .apns))
      }
      _ = try await store.installations.importBatch(batch)
      #expect(try await Self.all(store) == ["ann"])
    }
  }

  @Test func `a device too many takes nobody out, a verdict about the last one does`() async throws
  {
    try await Lane.withStore { _, store in
      for number in 0...Limits.installationsPerUserMax {
        try await store.install("ann", "aa\(1_000 + number)")
      }
      #expect(try await Self.all(store) == ["ann"])
      try await store.install("bob", "bb")
      let generation = try #require(try await store.binding("bb")).generation
      for (generation, left) in [(generation - 1, ["ann", "bob"]), (generation, ["ann"])] {
        _ = try await store.installations.invalidate(
          app: "shop",
          Settlement.Invalidation(
            network: .apns, token: "bb", user: "bob", generation: generation, sinceMs: nil,
            reason: "Unregistered"), job: "j1")
        #expect(try await Self.all(store) == left)
      }
    }
  }

  @Test func `to install again costs no command more than without an index`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      let before = try await store.commandCount(beginningWith: "z")
      try await store.install("ann", "aa")
      #expect(try await store.commandCount(beginningWith: "z") == before)
    }
  }

  @Test func `an index that cannot be written to refuses an install, and changes nothing`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("bob", "bb")
      _ = try await store.redis("DEL", store.keys.index(.all, app: "shop"))
      _ = try await store.redis("SET", store.keys.index(.all, app: "shop"), "x")
      let before = try await store.allKeys()
      #expect(await failure { try await store.install("ann", "aa") } != nil)
      #expect(try await store.allKeys() == before)
      // To remove a binding must not depend on it.
      let token = DeviceToken(stored: "bb", network: .apns)
      #expect(try await store.installations.uninstall(app: "shop", token: token) == .removed)
    }
  }

  // MARK: Bindings of versions without indexes

  /// As such a version leaves it.
  private static func forget(_ store: ShardStore) async throws {
    for key in try await store.allKeys()
    where [":index:", ":block:", ":audiences:", ":indexed"].contains(where: key.contains) {
      _ = try await store.redis("DEL", key)
    }
  }

  @Test func `a job to all is refused until those whom an older version bound are found`()
    async throws
  {
    try await Lane.withStore { _, store in
      let users = (0..<700).map { "u\($0)" }.sorted()
      for user in users { try await store.install(user, user) }
      try await store.install("other", "aa", app: "shop2")
      try await Self.forget(store)
      #expect(try await store.admit("j1", to: .all) == .notIndexed)
      #expect(try await store.admit("j2", to: .topic("news")) == .admitted)
      // Whoever comes and goes meanwhile is counted once.
      try await store.install("new", "bb")
      _ = try await store.installations.uninstall(
        app: "shop", token: DeviceToken(stored: "u0", network: .apns))
      var walk = IndexWalk()
      while !walk.isOver {
        #expect(try await store.admit("j3", to: .all) == .notIndexed)
        _ = try await store.redis("XTRIM", store.keys.jobs(.normal), "MAXLEN", "0")
        walk = try await store.audiences.indexUsers(app: "shop", walk)
      }
      #expect(walk.found >= 700 && walk.added == 699 && walk.walk.restarts == 0)
      #expect(
        try await Self.all(store) == users.filter { $0 != "u0" }.reduce(["new"]) { $0 + [$1] })
      #expect(try await store.admit("j1", to: .all) == .admitted)
      #expect(try await store.work("j1").count == 700)
      var again = IndexWalk()
      while !again.isOver { again = try await store.audiences.indexUsers(app: "shop", again) }
      #expect(again.added == 0)
      #expect(try await store.members(of: .all, app: "shop2") == [], "another app's users")
    }
  }

  @Test func `a search for users begins again in another server process`() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    try await Lane.withServer(options) { lane, server in
      var walk = IndexWalk()
      for isFirst in [true, false] {
        let connection = try await lane.connect(server)
        defer { connection.close() }
        let store = ShardStore(connection: connection, prefix: "{p*[p}")
        if isFirst {
          for number in 0..<600 { try await store.install("u\(number)", "t\(number)") }
          try await Self.forget(store)
          walk = try await store.audiences.indexUsers(app: "shop", walk)
          #expect(!walk.isOver)
          await server.kill9()
          try await server.restart()
        } else {
          while !walk.isOver { walk = try await store.audiences.indexUsers(app: "shop", walk) }
          #expect(walk.walk.restarts == 1 && walk.added == 600)
          #expect(try await Self.all(store).count == 600)
        }
      }
    }
  }
}
