import LocalServices
import Model
import Redis
import Testing

@testable import Store

/// What an export reads while devices come and go.
@Suite struct ExportTests {
  /// The tokens that a walk finds, with their users, and the apps that it names. After each page `change` is called.
  private static func walk(
    _ store: ShardStore, app: String? = nil, change: (Int) async throws -> Void = { _ in }
  ) async throws -> (users: [String: Set<String>], apps: Set<String>) {
    var (users, apps): ([String: Set<String>], Set<String>) = ([:], [])
    var (walk, pages) = (KeyWalk(), 0)
    while !walk.isOver {
      let page = try await store.installations.export(app: app, walk)
      for one in page.installations { users[one.token.text, default: []].insert(one.user) }
      apps.formUnion(page.apps)
      (walk, pages) = (page.walk, pages + 1)
      try await change(pages)
    }
    return (users, apps)
  }

  @Test func `who is bound throughout is exported, also a device that moves meanwhile`()
    async throws
  {
    try await Lane.withStore { _, store in
      for number in 0..<1_500 { try await store.install("u\(number)", "stays\(number)") }
      for number in 0..<500 { try await store.install("m\(number)", "moves\(number)") }
      for number in 0..<500 { try await store.install("l\(number)", "leaves\(number)") }
      let found = try await Self.walk(store) { page in
        for number in stride(from: page, to: 500, by: 10) where page < 10 {
          try await store.install("owner\(page)", "moves\(number)")
          try await store.install("n\(number)", "new\(page).\(number)")
          _ = try await store.installations.uninstall(
            app: "shop", token: DeviceToken(stored: "leaves\(number)", network: .apns))
        }
      }
      for number in 0..<1_500 { #expect(found.users["stays\(number)"] == ["u\(number)"]) }
      for number in 0..<500 { #expect(found.users["moves\(number)"] != nil, "moves\(number)") }
      #expect(found.apps == ["shop"])
    }
  }

  @Test func `an export of one app has no other, and passes over what is no record`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      try await store.install("bob", "bb", app: "shop2")
      _ = try await store.redis(
        "SET", store.keys.token(.apns, app: "shop", token: "cc"), "something else")
      _ = try await store.redis("HSET", store.keys.token(.fcm, app: "shop", token: "dd"), "a", "b")
      let one = try await Self.walk(store, app: "shop")
      #expect(one.users == ["aa": ["ann"]] && one.apps == ["shop"])
      let all = try await Self.walk(store)
      #expect(all.users == ["aa": ["ann"], "bb": ["bob"]] && all.apps == ["shop", "shop2"])
    }
  }

  @Test func `an export begins again in another server process`() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    try await Lane.withServer(options) { lane, server in
      var walk = KeyWalk()
      var found: Set<String> = []
      for isFirst in [true, false] {
        let connection = try await lane.connect(server)
        defer { connection.close() }
        let store = ShardStore(connection: connection, prefix: "{p*[p}")
        if isFirst {
          for number in 0..<900 { try await store.install("u\(number)", "t\(number)") }
          walk = try await store.installations.export(app: nil, walk).walk
          #expect(!walk.isOver)
          await server.kill9()
          try await server.restart()
        } else {
          while !walk.isOver {
            let page = try await store.installations.export(app: nil, walk)
            walk = page.walk
            found.formUnion(page.installations.map(\.token.text))
          }
          #expect(walk.restarts == 1 && found.count == 900)
        }
      }
    }
  }

  @Test func `who subscribes throughout is exported once, in the order of the users`() async throws
  {
    try await Lane.withStore { _, store in
      func subscription(_ user: String) -> Subscription {
        Subscription(app: "shop", topic: "news", user: user)
      }
      for number in 0..<1_000 {
        _ = try await store.audiences.subscribe(
          ["stays", "leaves"].map { subscription("\($0)\(number)") })
      }
      var (users, place): ([String], String?) = ([], "")
      while let behind = place {
        let page = try await store.audiences.subscribers(
          app: "shop", topic: "news", behind: behind)
        users += page.users
        place = page.place
        for number in stride(from: users.count % 7, to: 1_000, by: 7) {
          _ = try await store.audiences.unsubscribe([subscription("leaves\(number)")])
          _ = try await store.audiences.subscribe([subscription("joins\(number)")])
        }
      }
      #expect(users == users.sorted() && Set(users).count == users.count)
      #expect(users.count { $0.hasPrefix("stays") } == 1_000)
    }
  }
}
