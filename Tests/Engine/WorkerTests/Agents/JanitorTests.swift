import Store
import Logging
import Model
import Testing

@testable import Worker

@Suite struct JanitorTests {
  @Test("a job that lost its chunks gets them back, which is an error in the log")
  func repairs() async throws {
    try await LaneStage.with { _, parts in
      let janitor = Janitor(store: parts.store, life: parts.life, log: parts.lines.logger)
      try await parts.takeIn(id: "sale", users: ["a"])
      _ = await janitor.turn()
      #expect(!parts.lines.has(.error, "a job had lost chunks"))
      _ = try await parts.redis("DEL", parts.store.keys.chunks(.normal))
      let waitMs = await janitor.turn()
      #expect(waitMs >= WorkerLimits.reconcileMs / 2 && waitMs <= WorkerLimits.reconcileMs * 3 / 2)
      #expect(parts.lines.has(.error, "a job had lost chunks"))
      #expect(try await parts.store.chunks.claim(consumer: "w", max: 1).count == 1)
    }
  }

  @Test("it begins with no job once the lane is to end")
  func stops() async throws {
    try await LaneStage.with { _, parts in
      let janitor = Janitor(store: parts.store, life: parts.life, log: parts.lines.logger)
      try await parts.takeIn(id: "sale", users: ["a"])
      _ = try await parts.redis("DEL", parts.store.keys.chunks(.normal))
      parts.life.drain()
      _ = await janitor.turn()
      #expect(!parts.lines.has(.error, "a job had lost chunks"))
    }
  }
}
