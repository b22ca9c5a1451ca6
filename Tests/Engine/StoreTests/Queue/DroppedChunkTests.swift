import Model
import Redis
import Testing

@testable import Store

/// How much of a cancelled job one call ends: counted in recipients, since milliseconds are the machine's.
@Suite struct DroppedChunkTests {
  private static let chunkUsers = 256
  /// Long user ids: a chunk has 28 KiB, as one of installations.
  private static let chunks = 40
  /// Of them, what one call may end.
  private static let droppedMax = 12 * chunkUsers

  private func admit(_ store: ShardStore) async throws {
    let padding = String(repeating: "x", count: 100)
    let users = (0..<Self.chunks).map { chunk in
      (0..<Self.chunkUsers).map { "\(padding)-\(chunk)-\($0)" }
    }
    try await store.admit("j1", users: users)
  }

  /// The most that a call of the body skipped, of those until the job has ended.
  private func mostSkipped(_ store: ShardStore, _ body: () async throws -> Void) async throws -> Int
  {
    var most = 0
    for _ in 0..<1_000 {
      let before = try await store.record("j1").counts.skipped
      try await body()
      let record = try await store.record("j1")
      most = max(most, record.counts.skipped - before)
      guard record.finishedAtMs == nil else {
        #expect(record.isBalanced && record.counts.skipped == Self.chunks * Self.chunkUsers)
        return most
      }
    }
    Issue.record("it comes to no end")
    return most
  }

  @Test func `a claim that meets a cancelled job's chunks ends some, and says that there are more`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await admit(store)
      _ = try await store.jobs.cancel(app: "shop", id: "j1")
      var wasMore = true
      let most = try await mostSkipped(store) {
        #expect(wasMore, "it said that nothing was left")
        let (claims, isMore) = try await store.chunks.claimSome(consumer: "w", max: 4)
        #expect(claims == [])
        wasMore = isMore
      }
      #expect(most <= Self.droppedMax, "\(most) in a call")
    }
  }

  @Test func `parked chunks of a cancelled job end some at a time, and the next call is due`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await admit(store)
      _ = try await store.jobs.pause(app: "shop", id: "j1")
      #expect(try await store.chunks.claim(consumer: "w", max: 100) == [])
      _ = try await store.jobs.cancel(app: "shop", id: "j1")
      #expect(try await store.record("j1").counts.skipped <= Self.droppedMax)
      var dueMs: UInt64? = 0
      let most = try await mostSkipped(store) {
        #expect(dueMs == 0, "it said that nothing was due")
        dueMs = try await store.chunks.promote(max: 64).nextDueMs
      }
      #expect(most <= Self.droppedMax, "\(most) in a call")
    }
  }

  @Test func `delayed chunks of a cancelled job that fall due together end some at a time`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await admit(store)
      let claims = try await store.chunks.claim(consumer: "w", max: 100)
      #expect(claims.count == Self.chunks)
      _ = try await store.chunks.handBack(claims, consumer: "w", delayMs: 600_000)
      _ = try await store.jobs.cancel(app: "shop", id: "j1")
      try await store.hurry()
      let most = try await mostSkipped(store) {
        _ = try await store.chunks.promote(max: 64)
      }
      #expect(most <= Self.droppedMax, "\(most) in a call")
    }
  }
}
