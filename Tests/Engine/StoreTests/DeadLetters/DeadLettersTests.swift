import Model
import Redis
import Testing

@testable import Store

@Suite struct DeadLettersTests {
  @Test func `a chunk of a job that is being cancelled is retried only when the job has ended`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"], ["c"]], window: 2)
      let buried = try await store.claimOne()
      let inHand = try await store.claimOne()
      try await store.chunks.bury(
        buried, reason: "content_missing", message: "Gone", consumer: "worker")
      let letter = try #require(try await store.deadLetters.list(max: 5).first)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      #expect(try await store.deadLetters.retry(letter.entry) == .ending)
      #expect(try await store.record("j1").state == .cancelled)
      let third = try await store.chunks.claim(consumer: "worker", max: 1)
      #expect(third == [])
      _ = try await store.chunks.settle(
        inHand, .final(skipped: 1, users: 1), consumer: "worker")
      let record = try await store.record("j1")
      #expect(record.state == .cancelled && record.pending == 0 && record.isBalanced)
      #expect(record.counts.skipped == 2 && record.counts.failed == 1)
      #expect(try await store.deadLetters.retry(letter.entry) == .retried(entry: nil))
      #expect(try await store.claimOne().recipientList == ["a"])
    }
  }

  private func bury(_ store: ShardStore, _ text: String) async throws {
    _ = try await store.jobs.enqueue(Array(text.utf8), priority: .high)
    let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
    _ = try await store.jobs.refuse(
      entry, Refusal(reason: "invalid_job", message: "no"), consumer: "w")
  }

  @Test func `a letter names the entry that its producer was given`() async throws {
    try await Lane.withStore { _, store in
      let refused = try await store.jobs.enqueue(Array("{}".utf8), priority: .high)
      let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
      _ = try await store.jobs.refuse(
        entry, Refusal(reason: "invalid_job", message: "no"), consumer: "w")
      let unreadable = try await store.redis("XADD", store.keys.jobs(.high), "*", "jbo", "{}")
      #expect(try await store.jobs.take(consumer: "w", max: 1) == [])
      #expect(
        try await store.deadLetters.list(max: 5).map(\.jobEntry) == [refused, unreadable.string])
    }
  }

  @Test func `a retried job is queued once, at its priority, as it was`() async throws {
    try await Lane.withStore { _, store in
      try await bury(store, "{\"x\":1}")
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      #expect(letter.priority == "high" && letter.kind == "job")
      let answer = try await store.deadLetters.retry(letter.entry)
      #expect(try await store.deadLetters.retry(letter.entry) == .absent)
      #expect(try await store.deadLetters.count() == 0)
      let entries = try await store.jobs.take(consumer: "w", max: 5)
      #expect(entries.map(\.text) == [Array("{\"x\":1}".utf8)])
      #expect(entries.map(\.priority) == [.high])
      let queued = try #require(entries.first?.entry)
      #expect(answer == .retried(entry: try ShardEntry(queued, of: [store.id])))
    }
  }

  @Test func `letters are listed in pages and dropped one by one`() async throws {
    try await Lane.withStore { _, store in
      for index in 0..<5 { try await bury(store, "\(index)") }
      let first = try await store.deadLetters.list(max: 3)
      let rest = try await store.deadLetters.list(after: first.last?.entry, max: 3)
      #expect(first.count == 3 && rest.count == 2)
      #expect(Set((first + rest).map(\.entry)).count == 5)
      #expect(try await store.deadLetters.drop(first[0].entry))
      #expect(try await store.deadLetters.drop(first[0].entry) == false)
      #expect(try await store.deadLetters.count() == 4)
      #expect(try await store.deadLetters.show(first[0].entry) == nil)
    }
  }

  @Test func `what cannot be retried says so and stays`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.redis("XADD", store.keys.jobs(.low), "*", "jbo", "{}")
      _ = try await store.jobs.take(consumer: "w", max: 1)
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      #expect(try await store.deadLetters.retry(letter.entry) == .gone)
      #expect(try await store.deadLetters.count() == 1)
    }
  }

  @Test("a letter of a chunk with more recipients than its job has failed takes none of them back")
  func forgedCount() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"]])
      let claim = try await store.claimOne()
      #expect(
        try await store.chunks.bury(claim, reason: "test", message: "m", consumer: "worker"))
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      let fields = try #require(
        try await store.redis("XRANGE", store.keys.dead, letter.entry, letter.entry)
          .array?.first?.array?[1].array
      ).map { $0.string ?? "" }
      for count in ["2", "-1", "1.5"] {
        var forged = fields
        forged[forged.firstIndex(of: "count")! + 1] = count
        let entry = try #require(
          try await store.redis(["XADD", store.keys.dead, "*"] + forged).string)
        #expect(try await store.deadLetters.retry(entry) == .gone)
      }
      #expect(try await store.record("j1").counts.failed == 1)
      #expect(try await store.deadLetters.retry(letter.entry) == .retried(entry: nil))
      let record = try await store.record("j1")
      #expect(record.counts.failed == 0 && record.pending == 2 && record.isBalanced)
    }
  }
}
