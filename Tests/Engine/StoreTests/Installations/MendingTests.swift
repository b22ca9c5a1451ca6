import Model
import Redis
import Testing

@testable import Store

/// Bindings of which something has deleted a half.
@Suite struct MendingTests {
  private static func mend(_ store: ShardStore, app: String = "shop") async throws -> BindingWalk {
    var walk = BindingWalk()
    while !walk.isOver {
      let before = walk.mended
      walk = try await store.installations.mend(app: app, walk)
      // One call mends no more.
      #expect(walk.mended - before <= 64)
    }
    return walk
  }

  private static func loseRecord(_ token: String, _ store: ShardStore) async throws {
    let key = store.keys.token(.apns, app: "shop", token: token)
    #expect(try await store.redis("DEL", key).integer == 1)
  }

  private static func uninstall(
    _ token: String, owner: String? = nil, _ store: ShardStore
  ) async throws -> UninstallAnswer {
    try await store.installations.uninstall(
      app: "shop", token: DeviceToken(stored: token, network: .apns), owner: owner)
  }

  private static func lines(_ user: String, _ store: ShardStore) async throws -> [String] {
    let text = try await store.redis("GET", store.keys.user(app: "shop", user: user)).string ?? ""
    return text.split(separator: "\n").map { String($0.split(separator: "\t").last ?? "") }
  }

  @Test func `a line without a record gets one, and an uninstall finds the device again`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa", updatedAtMs: 1_700_000_000_000)
      let before = try #require(try await store.binding("aa"))
      try await Self.loseRecord("aa", store)
      let walk = try await Self.mend(store)
      #expect(walk.records == 1 && walk.lines == 0 && walk.dropped == 0)
      let after = try #require(try await store.binding("aa"))
      #expect(after.installation.user == "u1" && after.generation == before.generation)
      #expect(after.installation.updatedAtMs == 1_700_000_000_000)
      #expect(try await Self.uninstall("aa", store) == .removed)
      #expect(try await Self.lines("u1", store).isEmpty)
    }
  }

  @Test func `a record without its line gets it back, and so does the index of all`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      try await store.install("u1", "bb")
      for key in [
        store.keys.user(app: "shop", user: "u1"), store.keys.index(.all, app: "shop"),
        store.keys.block("", of: .all, app: "shop"),
      ] {
        _ = try await store.redis("DEL", key)
      }
      _ = try await store.redis("HDEL", store.keys.audiences(app: "shop"), AudienceIndex.all.name)
      let walk = try await Self.mend(store)
      #expect(walk.lines == 2 && walk.mended == 2)
      #expect(Set(try await Self.lines("u1", store)) == ["aa", "bb"])
      #expect(try await store.members(of: .all, app: "shop") == ["u1"])
      #expect(try await Self.mend(store).mended == 0)
    }
  }

  @Test func `a device that was uninstalled without its record is not brought back`() async throws {
    try await Lane.withStore { _, store in
      for (user, token) in [("u1", "aa"), ("u1", "bb"), ("u1", "cc"), ("u2", "dd")] {
        try await store.install(user, token)
      }
      for token in ["aa", "bb"] { try await Self.loseRecord(token, store) }
      // Whose it is can be told only by who names the owner.
      #expect(try await Self.uninstall("aa", store) == .absent)
      #expect(try await Self.lines("u1", store) == ["aa", "bb", "cc"])
      #expect(try await Self.uninstall("bb", owner: "u1", store) == .removed)
      #expect(try await Self.lines("u1", store) == ["aa", "cc"])
      let walk = try await Self.mend(store)
      #expect(walk.dropped == 1 && walk.mended == 1)
      #expect(try await Self.lines("u1", store) == ["cc"])
      // What is installed after that is none of it.
      try await store.install("u1", "aa")
      try await Self.loseRecord("aa", store)
      #expect(try await Self.mend(store).records == 1)
    }
  }

  @Test
  func `a former owner gets nothing more of a device that was installed anew without its record`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      try await store.install("u3", "bb")
      for token in ["aa", "bb"] { try await Self.loseRecord(token, store) }
      for token in ["aa", "bb"] { try await store.install("u2", token) }
      #expect(try await Self.lines("u1", store) == ["aa"])
      // One who uninstalls is told whose it is, and gets nothing more.
      #expect(try await Self.uninstall("bb", owner: "u3", store) == .otherOwner)
      #expect(try await Self.lines("u3", store).isEmpty)
      let walk = try await Self.mend(store)
      #expect(walk.dropped == 1 && walk.mended == 1)
      #expect(try await Self.lines("u1", store).isEmpty)
      #expect(try await Self.lines("u2", store) == ["aa", "bb"])
      #expect(try await store.members(of: .all, app: "shop") == ["u2"])
      // Nor when the new owner uninstalls it before anybody looks.
      try await store.install("u1", "cc")
      try await Self.loseRecord("cc", store)
      try await store.install("u2", "cc")
      #expect(try await Self.uninstall("cc", store) == .removed)
      #expect(try await Self.mend(store).dropped == 1)
      #expect(try await Self.lines("u1", store).isEmpty)
    }
  }

  @Test func `what was mended is an alarm with its number, and what is whole is none`() async throws
  {
    try await Lane.withStore { _, store in
      for number in 0..<300 { try await store.install("u\(number)", "t\(number)") }
      #expect(try await Self.mend(store).mended == 0)
      #expect(try await store.alarms.current(nowMs: 0).isEmpty)
      for number in 0..<200 { try await Self.loseRecord("t\(number)", store) }
      #expect(try await Self.mend(store, app: "news").mended == 0)
      #expect(try await Self.mend(store).records == 200)
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(alarm.field == "half_binding|shop")
      #expect(alarm.message.contains("shop: 200 bindings"), "\(alarm.message)")
    }
  }

  @Test func `the fleet's own walk mends every app, and rests for a day`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      try await store.install("u1", "aa", app: "news")
      for app in ["shop", "news"] {
        _ = try await store.redis("DEL", store.keys.token(.apns, app: app, token: "aa"))
      }
      // What stands under its key is a mistake.
      _ = try await store.redis("SET", store.keys.mending, "x")
      var mended = 0
      for _ in 0..<100 {
        let (count, rests) = try await store.installations.mendNext()
        mended += count
        if rests { break }
      }
      #expect(mended == 2)
      try await Self.loseRecord("aa", store)
      let (count, rests) = try await store.installations.mendNext()
      #expect(count == 0 && rests)
    }
  }

  @Test func `a generation that was given never comes again when its counter is lost`() async throws
  {
    try await Lane.withStore { _, store in
      for token in ["aa", "bb", "cc"] { try await store.install("u1", token) }
      _ = try await store.redis("DEL", store.keys.generation)
      #expect(try await Self.mend(store).mended == 0)
      try await store.install("u2", "dd")
      #expect(try await store.binding("dd")?.generation == 4)
    }
  }

  @Test func `what is no binding of ours stays as it is`() async throws {
    try await Lane.withStore { _, store in
      let user = store.keys.user(app: "shop", user: "u1")
      let token = store.keys.token(.apns, app: "shop", token: "aa")
      let text = "later\tproduction\t1\t2\ttt\nno line\napns\tproduction\tx\ty\tbb\nan end"
      _ = try await store.redis("SET", user, text)
      _ = try await store.redis("SET", token, "x")
      _ = try await store.redis("LPUSH", store.keys.user(app: "shop", user: "u2"), "x")
      _ = try await store.redis(
        "HSET", store.keys.token(.apns, app: "shop", token: "bb"), "badge", "3")
      #expect(try await Self.mend(store).mended == 0)
      #expect(try await store.redis("GET", user).string == text)
    }
  }
}
