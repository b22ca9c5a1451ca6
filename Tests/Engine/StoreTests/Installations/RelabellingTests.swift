import Model
import Redis
import Testing

@testable import Store

@Suite struct RelabellingTests {
  /// Settles a chunk of one user whose token was accepted in the development environment.
  private func relabel(
    _ store: ShardStore, _ token: String, user: String, generation: UInt64
  ) async throws {
    try await store.admit("j\(generation)-\(user)", users: [[user]])
    let claim = try await store.claimOne()
    var settlement = Settlement.final(accepted: 1, users: 1)
    settlement.relabellings = [
      Settlement.Relabelling(
        network: .apns, token: token, user: user, generation: generation,
        environment: .development)
    ]
    #expect(
      try await store.chunks.settle(claim, settlement, consumer: "worker").standing == .ok)
  }

  @Test func `a token that another environment accepted is installed for that one`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa", updatedAtMs: 1_700_000_000_000)
      try await store.install("u1", "bb")
      let old = try #require(try await store.binding("aa"))
      try await relabel(store, "aa", user: "u1", generation: old.generation)
      let new = try #require(try await store.binding("aa"))
      #expect(new.installation.environment == .development)
      #expect(new.installation.updatedAtMs == old.installation.updatedAtMs)
      // A verdict about the wrong environment concerns it no longer.
      #expect(new.generation > old.generation)
      // The user's own line, that is what lanes read.
      let line = try await store.redis("GET", store.keys.user(app: "shop", user: "u1"))
      let lines = try #require(line.string).split(separator: "\n").map(String.init)
      #expect(lines.count == 2)
      #expect(
        lines.contains("apns\tdevelopment\t\(new.generation)\t1700000000000\taa"))
      let audit = try await store.redis("XRANGE", store.keys.audit, "-", "+").array ?? []
      let fields = Dictionary(audit.last?.array?.last?.pairs ?? [], uniquingKeysWith: { $1 })
      #expect(
        fields == [
          "cause": "environment", "app": "shop", "user": "u1", "network": "apns", "token": "aa",
          "by": "development",
        ])
      #expect(try await store.record("j\(old.generation)-u1").counts.accepted == 1)
    }
  }

  @Test func `a token that was installed again or moved meanwhile stays as it is`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      let old = try #require(try await store.binding("aa")).generation
      try await store.install("u1", "aa")
      try await relabel(store, "aa", user: "u1", generation: old)
      #expect(try await store.binding("aa")?.installation.environment == .production)
      let current = try #require(try await store.binding("aa")).generation
      try await relabel(store, "aa", user: "u2", generation: current)
      #expect(try await store.binding("aa")?.installation.environment == .production)
      #expect(try await store.tokens(of: "u2") == [])
      try await relabel(store, "gone", user: "u1", generation: current + 1)
      #expect(try await store.tokens(of: "u1") == ["aa"])
      #expect(try await store.redis("EXISTS", store.keys.audit).integer == 0)
    }
  }
}
