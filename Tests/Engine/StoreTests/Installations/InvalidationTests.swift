import LocalServices
import Model
import Redis
import Testing

@testable import Store

@Suite struct InvalidationTests {
  private func verdict(
    _ store: ShardStore, _ user: String, generation: UInt64, sinceMs: Int64? = nil
  ) async throws -> UninstallAnswer {
    try await store.installations.invalidate(
      app: "shop",
      Settlement.Invalidation(
        network: .apns, token: "aa", user: user, generation: generation, sinceMs: sinceMs,
        reason: "Unregistered"), job: "j1")
  }

  @Test
  func `a verdict with a time of death spares a record that does not say when it was installed`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let generation = try #require(try await store.binding("aa")).generation
      _ = try await store.redis(
        "HDEL", store.keys.token(.apns, app: "shop", token: "aa"), "updated_at")
      #expect(try await verdict(store, "u1", generation: generation, sinceMs: 1) == .stale)
      #expect(try await verdict(store, "u1", generation: generation) == .removed)
    }
  }

  @Test func `a verdict about the current binding removes it and tells the backends`() async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let generation = try #require(try await store.binding("aa")).generation
      #expect(try await verdict(store, "u1", generation: generation) == .removed)
      #expect(try await verdict(store, "u1", generation: generation) == .absent)
      #expect(try await store.tokens(of: "u1") == [])
      let notices = try await store.redis("XRANGE", store.keys.uninstalled, "-", "+").array ?? []
      #expect(notices.count == 1)
      let fields = Dictionary(
        notices.first?.array?.last?.pairs ?? [], uniquingKeysWith: { $1 })
      #expect(
        fields == [
          "app": "shop", "user": "u1", "network": "apns", "token": "aa", "reason": "Unregistered",
          "provider_time": "", "job": "j1",
        ])
    }
  }

  @Test func `a 410 older than the install removes nothing`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let binding = try #require(try await store.binding("aa"))
      let updated = try #require(binding.installation.updatedAtMs)
      #expect(
        try await verdict(store, "u1", generation: binding.generation, sinceMs: updated - 1)
          == .stale)
      #expect(try await store.tokens(of: "u1") == ["aa"])
      #expect(
        try await verdict(store, "u1", generation: binding.generation, sinceMs: updated)
          == .removed)
    }
  }

  @Test func `a verdict about an earlier install of the same user removes nothing`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let old = try #require(try await store.binding("aa")).generation
      try await store.install("u1", "aa")
      #expect(try await verdict(store, "u1", generation: old) == .stale)
      #expect(try await store.tokens(of: "u1") == ["aa"])
    }
  }

  @Test func `a verdict about the former owner removes nothing of the next`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("alice", "aa")
      let old = try #require(try await store.binding("aa")).generation
      try await store.install("bob", "aa")
      let new = try #require(try await store.binding("aa")).generation
      #expect(try await verdict(store, "alice", generation: old) == .stale)
      #expect(try await verdict(store, "alice", generation: new) == .stale)
      #expect(try await store.tokens(of: "bob") == ["aa"])
      #expect(try await store.tokens(of: "alice") == [])
    }
  }

  @Test(arguments: [1, 2, 3])
  func `random installs, uninstalls and verdicts keep one owner per token`(seed: UInt64)
    async throws
  {
    try await Lane.withStore { _, store in
      var random = SeededDice(seed: seed)
      var owner: [String: (user: String, generation: UInt64)] = [:]
      var seen: [(token: String, user: String, generation: UInt64)] = []
      for _ in 0..<400 {
        let token = ["aa", "bb", "cc"].randomElement(using: &random)!
        let user = ["u1", "u2"].randomElement(using: &random)!
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          try await store.install(user, token)
          let generation = try #require(try await store.binding(token)).generation
          owner[token] = (user, generation)
          seen.append((token, user, generation))
        case 2:
          let answer = try await store.installations.uninstall(
            app: "shop", token: DeviceToken(stored: token, network: .apns), owner: user)
          #expect((answer == .removed) == (owner[token]?.user == user))
          if answer == .removed { owner[token] = nil }
        default:
          guard let old = seen.randomElement(using: &random) else { continue }
          let isCurrent = owner[old.token]?.generation == old.generation
          let answer = try await store.installations.invalidate(
            app: "shop",
            Settlement.Invalidation(
              network: .apns, token: old.token, user: old.user, generation: old.generation,
              sinceMs: nil, reason: "gone"), job: "j")
          #expect((answer == .removed) == isCurrent, "seed \(seed)")
          if isCurrent { owner[old.token] = nil }
        }
      }
      for user in ["u1", "u2"] {
        let expected = owner.filter { $0.value.user == user }.keys.sorted()
        #expect(try await store.tokens(of: user).sorted() == expected, "seed \(seed)")
      }
    }
  }
}
