import Store
import Testing

@testable import Worker

@Suite struct RecovererTests {
  @Test("it says when it is time to look, and again when a look found as much as it asked for")
  func looks() async throws {
    try await LaneStage.with { _, parts in
      var dues = 0
      let recoverer = Recoverer(
        chunks: parts.store.chunks, consumer: "new", leaseMs: 0, onDue: { dues += 1 })
      #expect(!recoverer.isDue && recoverer.everyMs == 1)
      _ = await recoverer.turn()
      #expect(recoverer.isDue && dues == 1)
      for id in ["j1", "j2", "j3"] { try await parts.takeIn(id: id, users: ["a"]) }
      #expect(try await parts.store.chunks.claim(consumer: "silent", max: 3).count == 3)
      #expect(try await recoverer.takeOver(max: 2).count == 2)
      #expect(recoverer.isDue)
      // The look goes on where the last one ended.
      #expect(try await recoverer.takeOver(max: 2).count == 1)
      #expect(!recoverer.isDue)
    }
  }
}
