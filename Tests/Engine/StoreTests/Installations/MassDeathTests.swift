import Model
import Redis
import Testing

@testable import Store

/// Chunks of users with a token each, that a network calls invalid.
@Suite struct MassDeathTests {
  /// Settles a chunk of users, all of whose tokens are called invalid.
  private func settle(
    _ store: ShardStore, job: String, users: [String], answers: Int, misfits: Int,
    environment: PushEnvironment = .production
  ) async throws -> SettleAnswer {
    try await store.admit(job, users: [users])
    let claim = try await store.claimOne()
    var settlement = Settlement()
    settlement.isFinal = true
    settlement.tallies = [
      Settlement.Tally(
        network: .apns, environment: environment, answers: answers, misfits: misfits)
    ]
    for user in users {
      let generation = try await store.binding("t-\(user)")?.generation ?? 0
      settlement.invalidations.append(
        Settlement.Invalidation(
          network: .apns, environment: environment, token: "t-\(user)", user: user,
          generation: generation, sinceMs: nil, reason: "BadDeviceToken"))
      settlement.resolveUser(installations: 1)
    }
    return try await store.chunks.settle(claim, settlement, consumer: "worker")
  }

  private func users(_ store: ShardStore, _ prefix: String, _ count: Int) async throws -> [String] {
    let users = (0..<count).map { "\(prefix)\($0)" }
    for user in users { try await store.install(user, "t-\(user)") }
    return users
  }

  /// Moves what was counted a minute, or two, back.
  private func age(_ store: ShardStore, minutes: Int64) async throws {
    let time = try await store.redis("TIME").array ?? []
    let seconds = Int64(time.first?.integer ?? 0)
    for key in try await store.allKeys() where key.contains(":tally:") {
      let earlier = Minute.name(epochSeconds: seconds - minutes * 60)
      _ = try await store.redis("RENAME", key, String(key.dropLast(12)) + earlier)
    }
  }

  @Test func `few misfits among many answers are uninstalled`() async throws {
    try await Lane.withStore { _, store in
      let users = try await users(store, "u", 3)
      let few = try await settle(store, job: "few", users: users, answers: 1_000, misfits: 49)
      #expect(few.uninstalled == 3)
      #expect(few.spared == 0 && few.massDeaths == [])
      let many = try await self.users(store, "v", 3)
      // 60 of 2,000 are 3 %.
      let share = try await settle(store, job: "many", users: many, answers: 1_000, misfits: 11)
      #expect(share.uninstalled == 3)
      #expect(try await store.alarms.current(nowMs: 0) == [])
    }
  }

  @Test func `the settlement that brings too many misfits removes nothing, and raises an alarm`()
    async throws
  {
    try await Lane.withStore { _, store in
      let users = try await users(store, "u", 50)
      let answer = try await settle(
        store, job: "wrong", users: users, answers: 1_000, misfits: 50)
      #expect(answer.uninstalled == 0)
      #expect(answer.spared == 50)
      #expect(answer.massDeaths == ["apns|production"])
      let record = try await store.record("wrong")
      #expect(record.counts.rejected == 50)
      #expect(record.isBalanced && record.pending == 0)
      #expect(try await store.tokens(of: "u7") == ["t-u7"])
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(alarm.field == "mass_death|shop|apns|production")
      #expect(alarm.message.contains("50 of 1000 answers"))
      #expect(alarm.untilMs - alarm.atMs == 120_000)
    }
  }

  @Test func `workers count together, and per app, network and environment`() async throws {
    try await Lane.withStore { _, store in
      let first = try await users(store, "a", 30)
      let second = try await users(store, "b", 30)
      let other = try await users(store, "c", 2)
      #expect(
        try await settle(store, job: "a", users: first, answers: 30, misfits: 30).uninstalled
          == 30)
      #expect(
        try await settle(store, job: "b", users: second, answers: 30, misfits: 30).spared == 30)
      let development = try await settle(
        store, job: "c", users: other, answers: 2, misfits: 2, environment: .development)
      #expect(development.uninstalled == 2)
    }
  }

  @Test func `it holds for the minute after, and is over then`() async throws {
    try await Lane.withStore { _, store in
      let first = try await users(store, "a", 50)
      _ = try await settle(store, job: "a", users: first, answers: 50, misfits: 50)
      try await age(store, minutes: 1)
      let second = try await users(store, "b", 1)
      #expect(
        try await settle(store, job: "b", users: second, answers: 1, misfits: 1).spared == 1)
      try await age(store, minutes: 3)
      let third = try await users(store, "c", 1)
      #expect(
        try await settle(store, job: "c", users: third, answers: 1, misfits: 1).uninstalled == 1)
    }
  }

  @Test func `what is counted goes away by itself`() async throws {
    try await Lane.withStore { _, store in
      let users = try await users(store, "u", 50)
      _ = try await settle(store, job: "wrong", users: users, answers: 50, misfits: 50)
      let keys = try await store.allKeys().filter {
        $0.contains(":tally:") || $0.contains(":alarms")
      }
      #expect(keys.count == 2)
      for key in keys {
        let life = try await store.redis("TTL", key).integer ?? -1
        #expect((1...600).contains(life))
      }
    }
  }
}
