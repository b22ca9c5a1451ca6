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
}
