import LocalServices
import Model
import Redis
import Testing

@testable import Store

/// What is kept of a token that went, and of a user's device.
@Suite struct DepartureTests {
  private static let token = DeviceToken(stored: "aa", network: .apns)

  private static func nowMs(_ store: ShardStore) async throws -> Int64 {
    let time = try await store.redis("TIME").array ?? []
    return Int64(time.first?.integer ?? 0) * 1_000
  }

  private func last(_ store: ShardStore, token: String = "aa") async throws -> Departure? {
    try await store.installations.departure(
      app: "shop", token: DeviceToken(stored: token, network: .apns),
      nowMs: try await Self.nowMs(store))
  }

  private func last(_ store: ShardStore, user: String) async throws -> Departure? {
    try await store.installations.departure(
      app: "shop", user: user, nowMs: try await Self.nowMs(store))
  }

  private func invalidate(_ store: ShardStore, reason: String = "Unregistered") async throws {
    let generation = try #require(try await store.binding("aa")).generation
    let answer = try await store.installations.invalidate(
      app: "shop",
      Settlement.Invalidation(
        network: .apns, token: "aa", user: "ann", generation: generation, sinceMs: nil,
        reason: reason), job: "sale")
    #expect(answer == .removed)
  }

  @Test func `a token tells why it went and whose it was, and its user what went`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await last(store) == nil)
      let before = try await Self.nowMs(store)
      func expect(_ cause: Departure.Cause, by: String, job: String = "") async throws {
        let departure = try #require(try await last(store))
        #expect(departure.cause == cause && departure.user == "ann" && departure.by == by)
        #expect(departure.job == job && departure.token == Self.token)
        #expect((before...before + 3_600_000).contains(departure.atMs))
        #expect(try await last(store, user: "ann") == departure)
      }
      try await store.install("ann", "aa")
      try await invalidate(store)
      try await expect(.network, by: "Unregistered", job: "sale")
      // That it came back does not make it forgotten, the next word does.
      try await store.install("ann", "aa")
      try await expect(.network, by: "Unregistered", job: "sale")
      _ = try await store.installations.uninstall(app: "shop", token: Self.token, owner: "ann")
      try await expect(.explicit, by: "ann")
      try await store.install("ann", "aa")
      try await store.install("bob", "aa")
      try await expect(.overwritten, by: "bob")
      #expect(try await last(store, user: "bob") == nil)
    }
  }

  @Test func `a token that made room names the one that took the place`() async throws {
    try await Lane.withStore { _, store in
      for number in 0...Limits.installationsPerUserMax {
        try await store.install("ann", "token-\(number)")
      }
      let departure = try #require(try await last(store, token: "token-0"))
      #expect(departure.cause == .evicted)
      #expect(departure.by == "token-\(Limits.installationsPerUserMax)")
    }
  }

  @Test func `an owner has a token since it moved, or since it was created`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      #expect(try await store.binding("aa")?.movedAtMs == nil)
      let before = try await Self.nowMs(store)
      try await store.install("bob", "aa")
      let moved = try #require(try await store.binding("aa")?.movedAtMs)
      #expect(moved >= before)
      try await store.install("bob", "aa")
      #expect(try await store.binding("aa")?.movedAtMs == moved)
      _ = try await store.installations.uninstall(app: "shop", token: Self.token)
      try await store.install("bob", "aa")
      #expect(try await store.binding("aa")?.movedAtMs == nil)
    }
  }

  @Test func `what a network says cannot be taken for something else`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      try await invalidate(store, reason: "gone\tand\nmore")
      #expect(try await last(store)?.by == "gone and more")
      #expect(try await last(store)?.job == "sale")
    }
  }

  @Test func `a token that is longer than any is told by its beginning, whatever takes its place`()
    async throws
  {
    try await Lane.withStore { _, store in
      let long = DeviceToken(
        stored: String(repeating: "x", count: DeviceToken.bytesOfAny.upperBound), network: .fcm)
      let beginning = String(repeating: "x", count: StoreLimits.departedTokenBytesMax)
      for number in 0..<Limits.installationsPerUserMax {
        try await store.install("ann", "token-\(number)")
      }
      let installation = Installation(app: "shop", user: "ann", token: long)
      _ = try await store.installations.install(installation)
      #expect(try await last(store, token: "token-0")?.by == beginning + "…")
      _ = try await store.installations.uninstall(app: "shop", token: long)
      let nowMs = try await Self.nowMs(store)
      let departure = try #require(
        try await store.installations.departure(app: "shop", token: long, nowMs: nowMs))
      #expect(departure.cause == .explicit && departure.user == "ann" && departure.token == long)
      #expect(try await last(store, user: "ann")?.token.text == beginning + "…")
      let key = store.keys.departed(String(nowMs / StoreLimits.departedMs))
      let words = try await store.redis("HGETALL", key).array ?? []
      #expect(!words.isEmpty && words.allSatisfy { ($0.bytes?.count ?? 0) < 1_200 })
    }
  }

  @Test func `so many are kept and no more, and none for longer than a week`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      try await store.install("ann", "bb")
      _ = try await store.installations.uninstall(app: "shop", token: Self.token)
      let turn = try await Self.nowMs(store) / StoreLimits.departedMs
      let key = store.keys.departed(String(turn))
      let former = store.keys.departed(String(turn - 1))
      let ends = try await store.redis("PTTL", key).integer ?? 0
      #expect(ends > 604_000_000 && ends <= 604_800_000)
      _ = try await store.redis("HSET", former, "t:apns:shop:cc", "explicit\t1\tann\tann\t")
      let script = """
        for n = 1, tonumber(ARGV[1]) do redis.call('HSET', KEYS[1], 'x' .. n, 'x') end
        """
      _ = try await store.redis("EVAL", script, "1", key, String(StoreLimits.departedMax - 4))
      #expect(try await last(store, token: "cc") != nil)
      _ = try await store.installations.uninstall(
        app: "shop", token: DeviceToken(stored: "bb", network: .apns))
      // 2 of the first, of which the user's was written over, and 1 of the second.
      #expect(try await store.redis("HLEN", key).integer == StoreLimits.departedMax - 1)
      try await store.install("ann", "dd")
      _ = try await store.installations.uninstall(
        app: "shop", token: DeviceToken(stored: "dd", network: .apns))
      #expect(try await store.redis("EXISTS", key).integer == 0)
      #expect(try await store.redis("HLEN", former).integer == StoreLimits.departedMax)
      #expect(try await store.redis("PTTL", former).integer ?? 0 > 0)
      #expect(try await last(store, token: "cc") == nil)
      for token in ["aa", "bb", "dd"] { #expect(try await last(store, token: token) != nil) }
    }
  }

  @Test(arguments: ["a foreign value", "no right"])
  func `what cannot be noted keeps no token from going`(trouble: String) async throws {
    try await Lane.withStore { _, store in
      try await store.install("ann", "aa")
      if trouble == "no right" {
        _ = try await store.redis(
          "ACL", "SETUSER", "default", "resetkeys", "~{pp}", "~{pp}:token:*", "~{pp}:user:*",
          "~{pp}:audit", "~{pp}:index:*", "~{pp}:block:*", "~{pp}:audiences:*", "~{pp}:unbound",
          "~{pp}:generation")
      } else {
        let turn = try await Self.nowMs(store) / StoreLimits.departedMs
        for turn in [turn, turn + 1] {
          _ = try await store.redis("SET", store.keys.departed(String(turn)), "x")
        }
      }
      #expect(
        try await store.installations.uninstall(app: "shop", token: Self.token) == .removed)
      #expect(try await last(store) == nil)
    }
  }
}
