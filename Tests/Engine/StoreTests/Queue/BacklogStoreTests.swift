import Model
import Redis
import Testing

@testable import Store

@Suite struct BacklogStoreTests {
  @Test func `the oldest waiting work is what nobody has taken yet`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.backlog.oldestWaitingMs() == 0)
      // An hour before the server's clock.
      let time = try await store.redis("TIME").array?.first?.integer ?? 0
      let id = "\((time - 3_600) * 1_000)-1"
      _ = try await store.redis("XADD", store.keys.jobs(.low), id, "job", "{}")
      let waitedMs = try await store.backlog.oldestWaitingMs()
      #expect((3_500_000...3_700_000).contains(waitedMs))
      _ = try await store.jobs.take(consumer: "w", max: 1)
      #expect(try await store.backlog.oldestWaitingMs() == 0)
    }
  }

  @Test func `who only reads learns since when work of each priority waits`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.backlog.waitingNotes() == WaitingNotes())
      let seconds = Int(try await store.serverSeconds())
      let sinceMs = (seconds - 3_600) * 1_000
      _ = try await store.redis("XADD", store.keys.jobs(.low), "\(sinceMs)-1", "job", "{}")
      _ = try await store.backlog.oldestWaitingMs()
      var notes = try await store.backlog.waitingNotes()
      #expect(notes.sinceMs == [.low: Int64(sinceMs)])
      #expect(try #require(notes.atMs) >= Int64(seconds) * 1_000)
      // Of a large job a function only says where it is to be looked for.
      let large = String(repeating: "x", count: 2 << 20)
      _ = try await store.redis("XADD", store.keys.jobs(.high), "\(sinceMs)-1", "job", large)
      _ = try await store.backlog.oldestWaitingMs()
      notes = try await store.backlog.waitingNotes()
      #expect(notes.sinceMs == [.low: Int64(sinceMs), .high: Int64(sinceMs)])
      // They outlive the workers, which may all be gone: then what waits goes on to wait.
      let life = try await store.redis("TTL", store.keys.oldest).integer
      #expect(try #require(life) > 86_400)
      _ = try await store.redis("DEL", store.keys.jobs(.low), store.keys.jobs(.high))
      _ = try await store.backlog.oldestWaitingMs()
      #expect(try await store.backlog.waitingNotes().sinceMs == [:])
    }
  }

  @Test func `the chunks of each app are counted over all priorities, until they are settled`()
    async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await store.backlog.chunksByApp() == [:])
      try await store.admit("j1", users: [["a"], ["b"]])
      try await store.admit("j2", users: [["a"]], priority: .high)
      try await store.admit("j3", users: [["a"]], priority: .low, app: "news")
      #expect(try await store.backlog.chunksByApp() == ["shop": 3, "news": 1])
      // One that a worker holds is still to be done.
      let claim = try await store.claimOne()
      #expect(try await store.backlog.chunksByApp() == ["shop": 3, "news": 1])
      _ = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(try await store.backlog.chunksByApp() == ["shop": 2, "news": 1])
      // What somebody else wrote there is no count.
      _ = try await store.redis("HSET", store.keys.share(.low), "news", "x", "old", "-3")
      #expect(try await store.backlog.chunksByApp() == ["shop": 2])
    }
  }
}
