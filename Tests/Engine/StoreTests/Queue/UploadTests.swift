import Model
import Redis
import Testing

@testable import Store

/// Segments that are uploaded before their job is admitted.
@Suite struct UploadTests {
  private static let segments = (0..<3).map { Array("u\($0)\n".utf8) }

  private func segmentKeys(_ store: ShardStore) async throws -> Int {
    try await store.redis("KEYS", "*:segment:*").array?.count ?? -1
  }

  @Test func `who lost the entry uploads nothing, and the job that is over stays over`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew("slow")
      #expect(
        try await store.jobs.upload(Self.segments, first: 1, of: entry, consumer: "slow"))
      #expect(try await segmentKeys(store) == 3)
      let again = try await store.jobs.take(consumer: "quick", max: 1, abandonedForMs: 0)
      #expect(again.count == 1)
      // While the other still works on it, and when the job has been refused.
      #expect(
        try await !store.jobs.upload(Self.segments, first: 4, of: entry, consumer: "slow"))
      #expect(try await segmentKeys(store) == 3)
      try await store.jobs.refuse(
        again[0], Refusal(reason: "invalid_job", message: "No", app: "shop", id: "j"),
        consumer: "quick")
      #expect(try await segmentKeys(store) == 0)
      #expect(
        try await !store.jobs.upload(Self.segments, first: 1, of: entry, consumer: "slow"))
      #expect(try await segmentKeys(store) == 0)
    }
  }

  @Test func `of a job that lost too many workers no uploaded segment is left`() async throws {
    try await Lane.withStore { _, store in
      var entry = try await store.takeNew("w0")
      let many = (0..<1_203).map { Array("u\($0)\n".utf8) }
      for round in 1...5 {
        // Each of them is lost in the middle of its upload.
        #expect(
          try await store.jobs.upload(many, first: 1, of: entry, consumer: "w\(round - 1)"))
        let taken = try await store.jobs.take(
          consumer: "w\(round)", max: 1, abandonedForMs: 0)
        guard let next = taken.first else { break }
        entry = next
      }
      #expect(try await store.deadLetters.list(max: 10).map(\.reason) == ["crashed_workers"])
      #expect(try await segmentKeys(store) == 0)
    }
  }
}
