import Model
import Redis
import Testing

@testable import Store

/// A producer chooses its entries' ids, its stream is deleted, and the same ids come again with other jobs.
@Suite struct RepeatedEntryTests {
  private static func admission(_ id: String, digest: String, segments: Int = 1) -> Admission {
    var admission = Admission(
      app: "shop", id: id, digest: digest, content: Array("{}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: segments, segments: segments, window: 1))
    admission.audience.texts = (1...segments).map { Array("\(digest)\($0)\n".utf8) }
    return admission
  }

  /// Adds a job by this entry id.
  private func add(_ store: ShardStore, _ text: String) async throws {
    _ = try await store.redis("XADD", "{pp}:jobs:normal", "5-1", "job", text)
  }

  private func take(_ store: ShardStore, _ consumer: String = "worker") async throws -> JobEntry {
    let entries = try await store.jobs.take(consumer: consumer, max: 1)
    let entry = try #require(entries.first)
    #expect(entry.entry == "5-1")
    return entry
  }

  private func begin(
    _ store: ShardStore, _ id: String, digest: String, _ consumer: String = "worker"
  ) async throws -> DirectJob {
    let job = DirectJob(
      entry: try await take(store, consumer), admission: Self.admission(id, digest: digest))
    #expect(try await store.jobs.direct.begin([job], consumer: consumer) == [.success(.new)])
    return job
  }

  private static func ending(_ job: DirectJob) -> DirectEnding {
    DirectEnding(job: job, startedAtMs: 1, settlement: .final(accepted: 1, users: 1))
  }

  @Test func `the end of a former job leaves the entry alone that nobody was given yet`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let first = try await begin(store, "a", digest: "one")
      _ = try await store.redis("DEL", "{pp}:jobs:normal")
      try await add(store, "second")
      #expect(try await store.jobs.direct.end([Self.ending(first)]) == [.ended])
      #expect(try await store.record("a").state == .done)
      let second = try await begin(store, "b", digest: "two")
      #expect(try await store.jobs.direct.end([Self.ending(second)]) == [.ended])
      #expect(try await store.record("b").state == .done)
    }
  }

  @Test func `the end of a former job is not that of another with its id`() async throws {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let first = try await begin(store, "a", digest: "one")
      _ = try await store.redis("DEL", "{pp}:jobs:normal")
      try await add(store, "second")
      let second = try await begin(store, "a", digest: "two")
      #expect(try await store.jobs.direct.end([Self.ending(first)]) == [.stale])
      #expect(try await store.record("a").state == .queued)
      let claim = try await store.jobs.direct.admit(
        begun: first, content: [0x7b, 0x7d], startedAtMs: 1, consumer: "worker")
      #expect(claim == nil)
      #expect(try await store.jobs.direct.end([Self.ending(second)]) == [.ended])
      #expect(try await store.record("a").counts.accepted == 1)
    }
  }

  @Test func `other content by the entry id of a job that has ended is in conflict with it`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let first = try await begin(store, "a", digest: "one")
      #expect(try await store.jobs.direct.end([Self.ending(first)]) == [.ended])
      for (digest, expected) in [("two", AdmissionAnswer.conflict), ("one", .duplicate)] {
        _ = try await store.redis("DEL", "{pp}:jobs:normal")
        try await add(store, "second")
        let again = DirectJob(
          entry: try await take(store), admission: Self.admission("a", digest: digest))
        #expect(
          try await store.jobs.direct.begin([again], consumer: "worker") == [.success(expected)])
      }
    }
  }

  @Test func `a chunk says of which content its job is`() async throws {
    try await Lane.withStore { _, store in
      let answer = try await store.admit("a", users: [["u"]], digest: "one")
      #expect(answer == .admitted)
      let claim = try await store.claimOne()
      #expect(claim.digest == "one")
    }
  }

  @Test(arguments: [false, true])
  func `the recipients of a job that goes on stay its own`(isUploaded: Bool) async throws {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let first = Self.admission("a", digest: "one", segments: 3)
      let former = try await take(store)
      #expect(try await store.jobs.admit(former, first, consumer: "worker") == .admitted)
      _ = try await store.redis("DEL", "{pp}:jobs:normal")
      try await add(store, "second")
      let entry = try await take(store)
      if isUploaded {
        #expect(
          try await store.jobs.reserve(
            entry, app: "shop", id: "b", digest: "two", consumer: "worker") == .taken)
      } else {
        let second = Self.admission("b", digest: "two", segments: 3)
        #expect(try await store.jobs.admit(entry, second, consumer: "worker") == .taken)
      }
      let refusal = Refusal(
        reason: "entry_taken", field: "", message: "taken", app: "shop", id: "b")
      #expect(try await store.jobs.refuse(entry, refusal, consumer: "worker"))
      for number in 1...3 {
        let claim = try await store.claimOne()
        #expect(claim.job == "a" && claim.recipientList == ["one\(number)"])
        let answer = try await store.chunks.settle(
          claim, .final(accepted: 1, users: 1), consumer: "worker")
        #expect(answer.standing == .ok)
      }
      #expect(try await store.record("a").counts.accepted == 3)
    }
  }

  @Test func `a job whose entry is deleted after it was taken becomes a dead letter, once`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let entry = try await take(store)
      func rescue() async throws -> Bool { try await isRescued(entry, store) }
      #expect(try await !rescue())
      _ = try await store.redis("XTRIM", "{pp}:jobs:normal", "MAXLEN", "0")
      #expect(try await rescue())
      #expect(try await !rescue())
      let letter = try #require(try await store.deadLetters.list(max: 5).first)
      #expect(letter.reason == "entry_lost" && letter.jobEntry == "5-1")
      #expect(try await store.record("a").refusal?.letter == letter.entry)
      // Also when the letter is too far back to be looked at.
      #expect(try await store.deadLetters.drop(letter.entry))
      #expect(try await !rescue())
      #expect(try await store.alarms.current(nowMs: 0).contains { $0.field == "lost_work|shop" })
    }
  }

  @Test(arguments: ["DEL", "XTRIM"])
  func `a job that is being sent goes on as a chunk when its entry is deleted`(
    how: String
  ) async throws {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let job = try await begin(store, "a", digest: "one")
      try await remove(store, by: how)
      func admit() async throws -> ChunkClaim {
        try #require(
          try await store.jobs.direct.admit(
            begun: job, content: Array("{}".utf8), startedAtMs: 1, consumer: "worker"))
      }
      let claim = try await admit()
      #expect(try await admit().entry == claim.entry)
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .ok)
      #expect(try await store.record("a").state == .done)
    }
  }

  @Test func `a job that had its name and whose entry is deleted becomes a dead letter, too`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await reserve(store)
      try await remove(store, by: "DEL")
      for expected in [true, false] {
        #expect(try await isRescued(entry, store) == expected)
      }
      #expect(try await store.record("a").refusal?.reason == "entry_lost")
    }
  }

  /// A job that is large enough to be named before it is admitted, of which the worker has the entry and the name.
  private func reserve(_ store: ShardStore) async throws -> JobEntry {
    try await add(store, "first")
    let entry = try await take(store)
    let answer = try await store.jobs.reserve(
      entry, app: "shop", id: "a", digest: "one", consumer: "worker")
    #expect(answer == .new)
    return entry
  }

  private func isRescued(
    _ entry: JobEntry, _ store: ShardStore, by consumer: String = "worker"
  ) async throws -> Bool {
    try await store.jobs.rescue(entry, app: "shop", id: "a", digest: "one", consumer: consumer)
  }

  @Test func `a job whose trimmed entry another worker has stays with that`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await reserve(store)
      try await remove(store, by: "XTRIM")
      #expect(try await !isRescued(entry, store, by: "other"))
      #expect(try await store.record("a").state == .queued)
      #expect(try await store.deadLetters.list(max: 5).isEmpty)
    }
  }

  @Test func `a job that was cancelled before its entry was deleted just ends`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await reserve(store)
      #expect(try await store.jobs.cancel(app: "shop", id: "a") == .cancelled)
      try await remove(store, by: "DEL")
      #expect(try await !isRescued(entry, store))
      #expect(try await store.record("a").state == .cancelled)
      #expect(try await store.deadLetters.list(max: 5).isEmpty)
      #expect(try await store.redis("TTL", "{pp}:job:shop:a").integer ?? 0 > 0)
    }
  }

  @Test func `a job that has a dead letter gets no other`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await reserve(store)
      try await remove(store, by: "DEL")
      _ = try await store.redis(
        "XADD", "{pp}:dead", "*", "kind", "job", "reason", "crashed_workers", "priority", "normal",
        "job_entry", entry.entry, "app", "", "id", "")
      #expect(try await !isRescued(entry, store))
    }
  }

  private func remove(_ store: ShardStore, by how: String) async throws {
    let rest = how == "XTRIM" ? ["MAXLEN", "0"] : []
    _ = try await store.redis([how, "{pp}:jobs:normal"] + rest)
  }

  @Test
  func
    `a job that somebody has ended needs no dead letter, one whose entry id is another's by now does`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await add(store, "first")
      let first = try await begin(store, "a", digest: "one")
      #expect(try await store.jobs.direct.end([Self.ending(first)]) == [.ended])
      #expect(
        try await !store.jobs.rescue(
          first.entry, app: "shop", id: "a", digest: "one", consumer: "worker"))
      _ = try await store.redis("DEL", "{pp}:jobs:normal")
      try await add(store, "second")
      #expect(
        try await store.jobs.rescue(
          first.entry, app: "shop", id: "other", digest: "three", consumer: "worker"))
    }
  }
}
