import Model
import Redis
import Store
import Testing

@testable import Worker

@Suite struct RecovererTests {
  @Test("it says when it is time to look, and again when a look found as much as it asked for")
  func looks() async throws {
    try await LaneStage.with { _, parts in
      var dues = 0
      let recoverer = Recoverer(
        chunks: parts.store.chunks, consumer: "new", leaseMs: 400_000, onDue: { dues += 1 })
      #expect(!recoverer.isDue && recoverer.everyMs == 100_000)
      _ = await recoverer.turn()
      #expect(recoverer.isDue && dues == 1)
      for id in ["j1", "j2", "j3"] { try await parts.takeIn(id: id, users: ["a"]) }
      let claims = try await parts.store.chunks.claim(consumer: "silent", max: 3)
      #expect(claims.count == 3)
      var command = RedisCommand(
        "XCLAIM", parts.store.keys.chunks(.normal), "workers", "silent", "0")
      for word in claims.map(\.entry) + ["IDLE", "500000", "JUSTID"] { command.append(word) }
      _ = try await parts.store.connection.call(command)
      #expect(try await recoverer.takeOver(max: 2).count == 2)
      #expect(recoverer.isDue)
      #expect(try await recoverer.takeOver(max: 2).count == 1)
      #expect(!recoverer.isDue)
    }
  }
}
