import Store
import Redis
import Testing

@testable import Worker

@Suite struct PromoterTests {
  @Test("delayed chunks are moved when they are due, and the next look is no later than that")
  func movesWhenDue() async throws {
    try await LaneStage.with { _, parts in
      var moves = 0
      let promoter = Promoter(
        chunks: parts.store.chunks, consumer: "w-0", log: parts.lines.logger,
        onMoved: { moves += 1 })
      #expect(await promoter.turn() == WorkerLimits.promoteMsMax)
      try await parts.takeIn(id: "sale", users: ["a"])
      let claims = try await parts.store.chunks.claim(consumer: "w-0", max: 1)
      try await parts.store.chunks.handBack(claims, consumer: "w-0", delayMs: 100)
      // Unless it has come due meanwhile.
      let waitMs = await promoter.turn()
      #expect(moves == 1 || (1...100).contains(waitMs))
      _ = try await parts.redis(
        "EVAL",
        "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, m) end",
        "1", parts.store.keys.delayed)
      _ = await promoter.turn()
      #expect(moves == 1)
      #expect(try await parts.store.chunks.claim(consumer: "w-0", max: 1).count == 1)
    }
  }

  @Test("one worker moves them while it comes again, and a lost Redis is asked again")
  func leavesToOther() async throws {
    try await LaneStage.with { _, parts in
      var moves = 0
      func promoter(_ consumer: String) -> Promoter {
        Promoter(
          chunks: parts.store.chunks, consumer: consumer, log: parts.lines.logger,
          onMoved: { moves += 1 })
      }
      let first = promoter("w-0")
      _ = await first.turn()
      try await parts.takeIn(id: "sale", users: ["a"])
      let claims = try await parts.store.chunks.claim(consumer: "w-0", max: 1)
      try await parts.store.chunks.handBack(claims, consumer: "w-0", delayMs: 1)
      _ = try await parts.redis(
        "EVAL",
        "for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, m) end",
        "1", parts.store.keys.delayed)
      _ = await promoter("v-0").turn()
      #expect(moves == 0)
      _ = await first.turn()
      #expect(moves == 1)
      parts.store.connection.close()
      #expect(await first.turn() == WorkerLimits.promoteMsMax)
    }
  }
}
