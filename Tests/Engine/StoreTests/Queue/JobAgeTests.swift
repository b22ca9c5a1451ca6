import Model
import Redis
import Testing

@testable import Store

@Suite struct JobAgeTests {
  @Test func `a job's life counts from its enqueueing, not from its admission`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      let enqueuedAtMs = try #require(entry.entry.split(separator: "-").first.flatMap { Int64($0) })
      let admission = Admission(
        app: "shop", id: "j1", digest: "d", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("u1\n".utf8)]))
      // Until the server's clock has moved on.
      while try await store.redis("TIME").array?.first?.string.flatMap({ Int64($0) })
        == enqueuedAtMs / 1_000
      {}
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      #expect(try await store.record("j1").createdAtMs == enqueuedAtMs)
    }
  }
}
