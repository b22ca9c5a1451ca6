import Model
import Redis
import Testing

@testable import Store

/// What several chunks of a job leave to be tried again comes back together.
@Suite struct JoinedResidualTests {
  private static func line(_ token: String, attempt: Int = 1) -> [UInt8] {
    Array("apns\tproduction\t\(token)\tu\t5\t\(attempt)\n".utf8)
  }

  /// Settles a chunk of one user whose only device is to be tried again.
  private static func leave(
    _ lines: [UInt8], of claim: ChunkClaim, delayMs: UInt64 = 60_000, joins: Bool = true,
    _ store: ShardStore
  ) async throws {
    var settlement = Settlement()
    settlement.isFinal = true
    settlement.resolveUser(installations: 1)
    settlement.residuals = [
      Settlement.Residual(delayMs: delayMs, joins: joins, lines: lines)
    ]
    settlement.retries = 1
    let answer = try await store.chunks.settle(claim, settlement, consumer: "worker")
    #expect(answer.standing == .ok)
  }

  private static func nowMs(_ store: ShardStore) async throws -> Int {
    let time = try #require(try await store.redis("TIME").array?.compactMap(\.string))
    return try #require(Int(time[0])) * 1_000 + #require(Int(time[1])) / 1_000
  }

  /// Leaves chunks to be tried again within one of the steps of 250 ms by which they come back, and judges what came of it.
  /// A machine that is too busy for that gets another step, with a job and a Redis of their own.
  /// - Parameters:
  ///   - users: those of the job; each is a chunk.
  ///   - isPaused: whether the job is paused before.
  private static func withinStep(
    users: [String], isPaused: Bool = false,
    _ leaving: @Sendable ([ChunkClaim], ShardStore) async throws -> Void,
    _ judging: @Sendable (ShardStore) async throws -> Void
  ) async throws {
    for _ in 0..<triesMax {
      let isJudged = try await Lane.withStore { _, store in
        try await store.admit("j1", users: users.map { [$0] })
        let claims = try await store.chunks.claim(consumer: "worker", max: users.count)
        try #require(claims.count == users.count)
        if isPaused { _ = try await store.jobs.pause(app: "shop", id: "j1") }
        while try await !(5...60).contains(nowMs(store) % 250) {}
        let step = try await nowMs(store) / 250
        try await leaving(claims, store)
        guard try await nowMs(store) / 250 == step else { return false }
        try await judging(store)
        return true
      }
      if isJudged { return }
    }
    Issue.record("the machine was too busy \(triesMax) times")
  }

  private static let triesMax = 200

  private static func dueChunks(_ store: ShardStore) async throws -> [ChunkClaim] {
    let members = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array ?? []
    for member in members.compactMap(\.string) {
      _ = try await store.redis("ZADD", store.keys.delayed, "1", member)
    }
    _ = try await store.chunks.promote(max: 10)
    return try await store.chunks.claim(consumer: "worker", max: 10)
  }

  private static func end(_ claim: ChunkClaim, accepted: Int, _ store: ShardStore) async throws {
    var last = Settlement()
    last.isFinal = true
    last.counts = [.apns: counts(accepted: accepted)]
    _ = try await store.chunks.settle(claim, last, consumer: "worker")
  }

  @Test("pushes of three chunks that are tried again at about one time become one chunk")
  func joins() async throws {
    try await Self.withinStep(users: ["a", "b", "c"]) { claims, store in
      for (claim, token) in zip(claims, ["aa", "bb", "cc"]) {
        try await Self.leave(Self.line(token), of: claim, store)
      }
    } _: { store in
      #expect(try await store.redis("ZCARD", store.keys.delayed).integer == 1)
      let due = try await Self.dueChunks(store)
      #expect(due.map(\.recipients) == [Self.line("aa") + Self.line("bb") + Self.line("cc")])
      try await Self.end(due[0], accepted: 3, store)
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 3 && record.counts.retries == 3)
      #expect(record.isBalanced)
      #expect(try await store.allKeys().filter { $0.contains(":segment:") } == [])
      let left = try await store.redis("HEXISTS", store.keys.job(app: "shop", id: "j1"), "later")
      #expect(left.integer == 0)
    }
  }

  @Test("what is due is not before its time, and at most a quarter of a second later")
  func keepsTime() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      let beforeMs = try await Self.nowMs(store)
      try await Self.leave(Self.line("aa"), of: claim, store)
      let afterMs = try await Self.nowMs(store)
      let score = try await store.redis("ZRANGE", store.keys.delayed, "0", "0", "WITHSCORES")
      let dueMs = try #require(score.array?.last?.string.flatMap { Int($0) })
      #expect((beforeMs + 60_000...afterMs + 60_250).contains(dueMs))
    }
  }

  @Test(
    "a chunk that is under way gets no more, nor does one that is full, nor what comes by itself")
  func staysApart() async throws {
    try await Self.withinStep(users: ["a", "b", "c", "d", "e"]) { claims, store in
      let many = Array(repeating: Self.line("bb"), count: 1_000).flatMap { $0 }
      try await Self.leave(Self.line("aa"), of: claims[0], store)
      try await Self.leave(many, of: claims[1], store)
      try await Self.leave(Self.line("cc"), of: claims[2], joins: false, store)
      try await Self.leave(Self.line("dd"), of: claims[3], delayMs: 120_000, store)
      #expect(try await store.redis("ZCARD", store.keys.delayed).integer == 4)
      let taken = try await Self.dueChunks(store)
      #expect(taken.count == 4)
      try await Self.leave(Self.line("ee"), of: claims[4], store)
      #expect(taken.allSatisfy { $0.recipients != Self.line("aa") + Self.line("ee") })
    } _: { store in
      let last = try await Self.dueChunks(store)
      #expect(last.map(\.recipients) == [Self.line("ee")])
    }
  }

  @Test("a paused job's are parked one by one, and nothing is lost")
  func isPaused() async throws {
    try await Self.withinStep(users: ["a", "b"], isPaused: true) { claims, store in
      for (claim, token) in zip(claims, ["aa", "bb"]) {
        var settlement = Settlement()
        settlement.isFinal = true
        settlement.resolveUser(installations: 1)
        settlement.residuals = [
          Settlement.Residual(delayMs: 60_000, joins: true, lines: Self.line(token))
        ]
        _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      }
    } _: { store in
      _ = try await store.jobs.resume(app: "shop", id: "j1")
      let due = try await Self.dueChunks(store)
      #expect(Set(due.map(\.recipients)) == [Self.line("aa"), Self.line("bb")])
      for claim in due { try await Self.end(claim, accepted: 1, store) }
      #expect(try await store.record("j1").isBalanced)
      #expect(try await store.record("j1").state == .done)
    }
  }
}
