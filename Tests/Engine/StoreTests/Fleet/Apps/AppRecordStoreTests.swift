import PushpoolConfiguration
import Redis
import Testing

@testable import Store

/// The HASH of apps, and the stream of their changes.
@Suite struct AppRecordStoreTests {
  private static func value(_ revision: String) -> [UInt8] {
    Array(#"{"version":1,"revision":"\#(revision)","form":{},"secrets":{}}"#.utf8)
  }

  @Test("an app is added once, set only when it is there, and put in either case")
  func modes() async throws {
    try await Lane.withStore { _, store in
      let apps = store.fleet.apps
      let missing = try await apps.put("shop", value: Self.value("a"), .set)
      #expect(missing == .missing)
      #expect(try await apps.put("shop", value: Self.value("a"), .add) == .added)
      #expect(try await apps.put("shop", value: Self.value("b"), .add) == .exists)
      #expect(try await apps.find("shop") == Self.value("a"))
      #expect(try await apps.put("shop", value: Self.value("b"), .set) == .replaced)
      #expect(try await apps.put("news", value: Self.value("c"), .put) == .added)
      #expect(try await apps.put("news", value: Self.value("d"), .put) == .replaced)
      #expect(try await apps.find("news") == Self.value("d"))
      #expect(
        try await apps.find(["news", "none", "shop"]) == [Self.value("d"), nil, Self.value("b")])
      #expect(try await apps.count() == 2)
      #expect(try await Set(apps.ids()) == ["shop", "news"])
      #expect(try await apps.has("shop"))
      #expect(try await !apps.has("none"))
      #expect(try await apps.present(among: ["none", "shop"]) == ["shop"])
      let many = (0..<StoreLimits.appsPage).map { "none-\($0)" } + ["news"]
      #expect(try await apps.present(among: many) == ["news"])
      #expect(try await apps.remove("shop") == .removed)
      #expect(try await apps.remove("shop") == .missing)
      #expect(try await apps.find("shop") == nil)
    }
  }

  @Test("who changes an app that somebody has changed since is refused")
  func revisions() async throws {
    try await Lane.withStore { _, store in
      let apps = store.fleet.apps
      _ = try await apps.put("shop", value: Self.value("a"), .add)
      #expect(try await apps.put("shop", value: Self.value("b"), .set, revision: "x") == .changed)
      #expect(try await apps.put("shop", value: Self.value("b"), .put, revision: "a") == .replaced)
      #expect(try await apps.put("none", value: Self.value("b"), .put, revision: "a") == .changed)
      #expect(try await apps.remove("shop", revision: "a") == .changed)
      #expect(try await apps.remove("shop", revision: "b") == .removed)
      // What is no record has no revision, and can be replaced and removed by who asks for none.
      for junk in ["no JSON", "[]", "{}", #"{"revision":5}"#, "null"] {
        _ = try await store.redis("HSET", store.keys.apps, "junk", junk)
        #expect(try await apps.remove("junk", revision: "a") == .changed)
        #expect(try await apps.put("junk", value: Self.value("a"), .set) == .replaced)
        _ = try await store.redis("HSET", store.keys.apps, "junk", junk)
        #expect(try await apps.remove("junk") == .removed)
      }
    }
  }

  @Test("there are no more apps than there may be")
  func bounded() async throws {
    try await Lane.withStore { _, store in
      var command = RedisCommand("HSET", store.keys.apps)
      for number in 0..<ConfigurationLimits.redisAppsMax {
        command.append("app-\(number)")
        command.append("{}")
      }
      _ = try await store.connection.call(command)
      #expect(try await store.fleet.apps.put("shop", value: Self.value("a"), .add) == .full)
      #expect(try await store.fleet.apps.put("app-5", value: Self.value("a"), .set) == .replaced)
      #expect(try await store.fleet.apps.remove("app-6") == .removed)
      #expect(try await store.fleet.apps.put("shop", value: Self.value("a"), .add) == .added)
      // By hand there may be any number, which nobody reads.
      _ = try await store.redis("HSET", store.keys.apps, "one-more", "{}")
      await #expect(throws: RedisError.self) { try await store.fleet.apps.ids() }
    }
  }

  @Test("every app comes up in the pages, whatever changes meanwhile")
  func pages() async throws {
    try await Lane.withStore { _, store in
      let staying = Set((0..<500).map { "app-\($0)" })
      for id in staying { _ = try await store.fleet.apps.put(id, value: Self.value("a"), .add) }
      var (found, cursor, turn): (Set<String>, String?, Int) = ([], nil, 0)
      repeat {
        let page = try await store.fleet.apps.page(after: cursor)
        for (id, value) in page.values where value == Self.value("a") { found.insert(id) }
        cursor = page.cursor
        turn += 1
        _ = try await store.fleet.apps.put("new-\(turn)", value: Self.value("b"), .add)
      } while cursor != nil
      #expect(found == staying && turn > 2)
      let none = try await Lane.withStore { _, store in try await store.fleet.apps.page() }
      #expect(none.values.isEmpty && none.cursor == nil)
    }
  }

  @Test("a reader is told of each change once, and that it has to read all when it missed some")
  func changes() async throws {
    try await Lane.withStore { _, store in
      let apps = store.fleet.apps
      #expect(try await apps.lastChange() == nil)
      #expect(try await apps.changes(since: nil) == .nothing)
      _ = try await apps.put("shop", value: Self.value("a"), .add)
      #expect(try await apps.changes(since: nil) == .unknown)
      let first = try #require(try await apps.lastChange())
      #expect(try await apps.changes(since: first) == .nothing)
      _ = try await apps.put("news", value: Self.value("a"), .add)
      _ = try await apps.put("shop", value: Self.value("b"), .set)
      _ = try await apps.remove("news")
      let last = try #require(try await apps.lastChange())
      #expect(
        try await apps.changes(since: first)
          == .these(["news", "shop"], upTo: last, hasMore: false))
      // What is refused changes nothing.
      _ = try await apps.put("news", value: Self.value("a"), .set)
      _ = try await apps.remove("news")
      #expect(try await apps.changes(since: last) == .nothing)
      // Another Redis, or one that was emptied.
      #expect(try await apps.changes(since: "1-1") == .unknown)
      _ = try await store.redis("DEL", "{pp}:app_changes")
      #expect(try await apps.changes(since: last) == .unknown)
    }
  }

  @Test("of very many changes some are told at a time, and of too many that they were trimmed")
  func manyChanges() async throws {
    try await Lane.withStore { _, store in
      let apps = store.fleet.apps
      _ = try await apps.put("shop", value: Self.value("a"), .add)
      let first = try #require(try await apps.lastChange())
      for number in 0..<300 {
        _ = try await apps.put("app-\(number)", value: Self.value("a"), .add)
      }
      guard
        case .these(let some, upTo: let place, hasMore: true) = try await apps.changes(since: first)
      else {
        Issue.record("not some of them")
        return
      }
      #expect(some.count == StoreLimits.appChangesAtOnce)
      guard
        case .these(let others, upTo: _, hasMore: false) = try await apps.changes(since: place)
      else {
        Issue.record("not the others")
        return
      }
      #expect(some + others == (0..<300).map { "app-\($0)" })
      // Trimming is by whole blocks, so more are kept than must be.
      for _ in 0..<1_500 { _ = try await apps.put("shop", value: Self.value("a"), .set) }
      #expect(try await apps.changes(since: first) == .unknown)
      let length = try await store.redis("XLEN", "{pp}:app_changes").integer ?? 0
      #expect((1_000...1_300).contains(length))
    }
  }

  @Test("keys of another type change nothing, and the error names the key")
  func wrongTypes() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.redis("SET", "{pp}:app_changes", "text")
      await #expect(throws: RedisError.self) {
        try await store.fleet.apps.put("shop", value: Self.value("a"), .add)
      }
      #expect(try await store.fleet.apps.count() == 0)
      _ = try await store.redis("DEL", "{pp}:app_changes")
      _ = try await store.redis("SET", "{pp}:apps", "text")
      let error = await #expect(throws: RedisError.self) {
        try await store.fleet.apps.put("shop", value: Self.value("a"), .add)
      }
      #expect(error?.wrongTypeKey == "{pp}:apps")
    }
  }
}
