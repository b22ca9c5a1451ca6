import Model
import Redis
import Testing

@testable import Store

/// Redis's clock goes back by ten minutes, and a worker dies within a second of it: what it has told stands in the future.
@Suite struct ClockStepTests {
  private static let stepMs: Int64 = 600_000
  private static let leaseMs: UInt64 = 100

  /// Has a worker die that had a chunk, just before the clock went back.
  private func lose(_ store: ShardStore) async throws -> (claim: ChunkClaim, nowMs: Int64) {
    try await store.admit("sale", users: [["a"]])
    let claim = try await store.claimOne("dead-0")
    let now = try await store.workers.beat(worker: "dead", fields: [])
    let future = "\(now + Self.stepMs)"
    _ = try await store.redis("ZADD", "{pp}:workers", future, "dead")
    _ = try await store.redis("SET", "{pp}:workers_since", future)
    _ = try await store.redis(
      "XCLAIM", "{pp}:chunks:normal", "workers", "dead-0", "0", claim.entry, "TIME", future,
      "JUSTID")
    return (claim, now)
  }

  @Test func `what the worker had is taken over a lease later, and it has lost it`() async throws {
    try await Lane.withStore { lane, store in
      let (lost, _) = try await lose(store)
      var taken: [ChunkClaim] = []
      // Each look is a beat apart, as those of a worker.
      for _ in 0..<100 where taken.isEmpty {
        _ = try await store.workers.beat(worker: "alive", fields: [])
        taken = try await store.chunks.reclaim(consumer: "alive-0", leaseMs: Self.leaseMs, max: 4)
        _ = try await store.redis("BLPOP", "nothing", "0.1")
      }
      let claim = try #require(taken.first)
      #expect(claim.job == "sale" && claim.entry == lost.entry && claim.crashes == 1)
    }
  }

  @Test func `the first beat brings the times back, and leases stay with whom they are`()
    async throws
  {
    try await Lane.withStore { _, store in
      let (claim, now) = try await lose(store)
      _ = try await store.workers.beat(worker: "alive", fields: [])
      let beats = try await store.workers.all().map(\.lastBeatMs)
      #expect(beats.count == 2 && beats.allSatisfy { $0 < now + Self.stepMs / 2 })
      #expect(try await store.chunks.heartbeat([claim], consumer: "dead-0") == [.ok])
    }
  }

  @Test func `what was put aside by the clock that was ahead comes as much earlier`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("retry", users: [["a"]])
      let claims = [try await store.claimOne("w")]
      _ = try await store.chunks.handBack(claims, consumer: "w", delayMs: 60_000)
      let (_, now) = try await lose(store)
      let due = { try await store.redis("ZRANGE", "{pp}:delayed", "0", "-1", "WITHSCORES").array }
      let member = try #require(try await due()?.first?.string)
      func wait(untilMs: Int64) async throws -> Int64 {
        _ = try await store.redis("ZADD", "{pp}:delayed", "\(untilMs)", member)
        _ = try await store.redis("ZADD", "{pp}:workers", "\(now + Self.stepMs)", "dead")
        _ = try await store.workers.beat(worker: "alive", fields: [])
        return Int64(try #require(try await due()?.last?.string)) ?? 0
      }
      // Put aside before the step, for five seconds.
      #expect(try await wait(untilMs: now + Self.stepMs + 5_000) <= now + 10_000)
      // Put aside before the clock was ahead.
      #expect(try await wait(untilMs: now + 60_000) == now + 60_000)
    }
  }

  @Test func `alarms that were raised before the step end as much earlier`() async throws {
    try await Lane.withStore { _, store in
      let (_, now) = try await lose(store)
      let (at, until) = (now + Self.stepMs, now + Self.stepMs + 30_000)
      _ = try await store.redis(
        "HSET", "{pp}:alarms", "clock|dead",
        #"{"at":\#(at),"until":\#(until),"by":"dead-0","message":"wrong"}"#)
      try await store.alarms.raise("clock|alive", by: "alive-0", lifeMs: 60_000, message: "new")
      let after = try await store.workers.beat(worker: "alive", fields: [])
      let alarms = try await store.alarms.current(nowMs: after)
      #expect(alarms.map(\.field).sorted() == ["clock|alive", "clock|dead"])
      #expect(alarms.allSatisfy { $0.untilMs <= after + 60_000 && $0.atMs <= after })
    }
  }
}
