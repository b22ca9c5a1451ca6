import Model
import Redis
import Testing

@testable import Store

/// What is kept of a job that has ended, and for how long.
@Suite struct RetentionTests {
  private static let content = Array(#"{"notification":{"body":"Your order was shipped."}}"#.utf8)

  private func start(
    _ store: ShardStore, _ id: String, digest: String = "0123456789abcdef0123456789abcdef",
    retentionSeconds: Int? = 7_200, otherwiseSeconds: Int? = nil, keepsContent: Bool = false
  ) async throws -> AdmissionAnswer {
    let entry = try await store.takeNew(priority: .high)
    var admission = Admission(
      app: "shop", id: id, digest: digest, content: Self.content,
      audience: Admission.Audience(
        lines: .users, recipients: 1, segments: 1, texts: [Array("u1\n".utf8)]))
    admission.retention.seconds = retentionSeconds
    admission.retention.otherwiseSeconds = otherwiseSeconds
    admission.retention.keepsContent = keepsContent
    return try await store.jobs.admit(entry, admission, consumer: "worker")
  }

  private func end(_ store: ShardStore, _ settlement: Settlement) async throws {
    try await end(store, try await store.claimOne(), settlement)
  }

  private func end(
    _ store: ShardStore, _ claim: ChunkClaim, _ settlement: Settlement
  ) async throws {
    _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
  }

  private func fields(_ store: ShardStore, _ id: String) async throws -> Set<String> {
    let names = try await store.redis("HKEYS", store.keys.job(app: "shop", id: id)).array ?? []
    return Set(names.compactMap(\.string))
  }

  private func secondsLeft(_ store: ShardStore, _ key: String) async throws -> Int {
    try #require(try await store.redis("TTL", key).integer)
  }

  @Test("a finished job of one user keeps at most 300 bytes, and all that its record promises")
  func keepsLittle() async throws {
    try await Lane.withStore { _, store in
      #expect(try await start(store, "order-4711-shipped") == .admitted)
      let key = store.keys.job(app: "shop", id: "order-4711-shipped")
      let before = try await store.redis("MEMORY", "USAGE", key).integer ?? 0
      #expect(before > 400)
      try await end(store, .final(accepted: 1, users: 1))
      let record = try await store.record("order-4711-shipped")
      #expect(record.state == .done && record.total == 1 && record.counts.accepted == 1)
      #expect(record.pending == 0 && record.isBalanced && record.isAdmitted)
      #expect(record.priority == .high && record.createdAtMs != nil && record.startAtMs == nil)
      #expect(record.startedAtMs != nil && record.finishedAtMs != nil)
      let after = try await store.redis("MEMORY", "USAGE", key).integer ?? .max
      #expect(after <= 300)
      let content = store.keys.content(app: "shop", id: "order-4711-shipped")
      #expect(try await store.redis("EXISTS", content).integer == 0)
      #expect((7_100...7_200).contains(try await secondsLeft(store, key)))
    }
  }

  @Test("the id is taken for as long: the same job is ignored, and another is a conflict")
  func keepsID() async throws {
    try await Lane.withStore { _, store in
      #expect(try await start(store, "j1") == .admitted)
      try await end(store, .final(accepted: 1, users: 1))
      #expect(try await start(store, "j1") == .duplicate)
      #expect(try await start(store, "j1", digest: "other") == .conflict)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .done)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .absent)
      #expect(try await store.record("j1").state == .done)
    }
  }

  @Test("of a large job what it said and the key of its users are kept as long as the record")
  func keepsLarge() async throws {
    try await Lane.withStore { _, store in
      for (id, count) in [("small", 999), ("large", 1_000)] {
        let users = (0..<count).map { "u\($0)" }
        try await store.fill("crowd", .set, users)
        let entry = try await store.takeNew(priority: .high)
        var admission = Admission(
          app: "shop", id: id, digest: "d", content: Self.content,
          audience: Admission.Audience(
            lines: .users, recipients: 0, segments: 0, usersKey: "crowd"))
        admission.retention.seconds = 7_200
        admission.retention.keepsContent = false
        #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
        while try await store.record(id).finishedAtMs == nil {
          try await store.hurry()
          _ = try await store.chunks.promote(max: 100)
          for claim in try await store.chunks.claim(consumer: "worker", max: 100) {
            let users = claim.recipientList.count
            try await end(store, claim, .final(accepted: users, users: users))
          }
        }
        let content = store.keys.content(app: "shop", id: id)
        let isKept = try await store.redis("EXISTS", content).integer == 1
        #expect(isKept == (count == 1_000))
        if isKept { #expect((7_100...7_200).contains(try await secondsLeft(store, content))) }
        #expect(try await store.record(id).usersKey == "crowd")
        #expect(try await store.record(id).lines == nil)
      }
    }
  }

  @Test("the content is kept as long as the record where a trace needs it")
  func keepsContent() async throws {
    try await Lane.withStore { _, store in
      _ = try await start(store, "j1", keepsContent: true)
      try await end(store, .final(skipped: 1, users: 1))
      #expect(try await store.jobs.content(app: "shop", id: "j1") == Self.content)
      let content = store.keys.content(app: "shop", id: "j1")
      #expect((7_100...7_200).contains(try await secondsLeft(store, content)))
      #expect(try await store.record("j1").counts.skipped == 1)
    }
  }

  @Test("what an admission says nothing of is kept for 7 days")
  func usually() async throws {
    try await Lane.withStore { _, store in
      _ = try await start(store, "j1", retentionSeconds: nil)
      try await end(store, .final(accepted: 1, users: 1))
      for key in [
        store.keys.job(app: "shop", id: "j1"), store.keys.content(app: "shop", id: "j1"),
      ] {
        #expect((604_700...604_800).contains(try await secondsLeft(store, key)))
      }
    }
  }

  @Test("what did not end well is kept longer, and so is what an older worker ends")
  func keepsWhatFailed() async throws {
    try await Lane.withStore { _, store in
      let outcomes: [(WritableKeyPath<OutcomeCounts, Int>, Bool)] = [
        (\.accepted, true), (\.uninstalled, true), (\.skipped, true), (\.rejected, false),
        (\.expired, false), (\.failed, false),
      ]
      func end(_ id: String, _ outcome: WritableKeyPath<OutcomeCounts, Int>) async throws -> Int {
        _ = try await start(
          store, id, retentionSeconds: 600, otherwiseSeconds: 7_200, keepsContent: true)
        if id == "older" {
          // An older version knows of no such field, and so it neither writes nor reads it.
          let key = store.keys.job(app: "shop", id: id)
          #expect(try await store.redis("HDEL", key, "retention_well").integer == 1)
        }
        var counts = OutcomeCounts()
        counts[keyPath: outcome] = 1
        var settlement = Settlement.final(users: 1)
        settlement.counts = [.apns: counts]
        try await self.end(store, settlement)
        let content = try await secondsLeft(store, store.keys.content(app: "shop", id: id))
        let record = try await secondsLeft(store, store.keys.job(app: "shop", id: id))
        #expect(abs(content - record) <= 1)
        return record
      }
      for (number, (outcome, isWell)) in outcomes.enumerated() {
        let left = try await end("j\(number)", outcome)
        #expect(isWell ? (500...600).contains(left) : (7_100...7_200).contains(left), "\(number)")
      }
      #expect((7_100...7_200).contains(try await end("older", \.accepted)))
      #expect(try await fields(store, "j0").isDisjoint(with: ["retention", "retention_well"]))
    }
  }

  @Test("a cancelled job is kept like one that did not end well")
  func keepsCancelled() async throws {
    try await Lane.withStore { _, store in
      _ = try await start(store, "j1", retentionSeconds: 600, otherwiseSeconds: 7_200)
      let claim = try await store.claimOne()
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      try await end(store, claim, .final(skipped: 1, users: 1))
      let key = store.keys.job(app: "shop", id: "j1")
      #expect((7_100...7_200).contains(try await secondsLeft(store, key)))
    }
  }

  @Test("a job with a dead letter keeps all that its retry takes, and little once that ended well")
  func keepsForRetry() async throws {
    try await Lane.withStore { _, store in
      _ = try await start(store, "j1")
      let buried = try await store.claimOne()
      try await store.chunks.bury(
        buried, reason: "crashed_workers", message: "Lost", consumer: "worker")
      #expect(try await store.record("j1").counts.failed == 1)
      #expect(try await fields(store, "j1").isSuperset(of: ["segments", "window", "lines"]))
      #expect(try await store.jobs.content(app: "shop", id: "j1") == Self.content)
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      #expect(try await store.deadLetters.retry(letter.entry) == .retried(entry: nil))
      let key = store.keys.job(app: "shop", id: "j1")
      #expect(try await secondsLeft(store, key) == -1)
      try await end(store, .final(accepted: 1, users: 1))
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 1 && record.counts.failed == 0)
      #expect(try await fields(store, "j1").isDisjoint(with: ["segments", "window", "lines"]))
      #expect((7_100...7_200).contains(try await secondsLeft(store, key)))
    }
  }

  @Test("a letter whose recipients were all done has nothing to retry once its job has ended")
  func nothingToRetry() async throws {
    try await Lane.withStore { _, store in
      _ = try await start(store, "j1")
      let claim = try await store.claimOne()
      var settlement = Settlement.final(accepted: 1, users: 1)
      settlement.isFinal = false
      settlement.done.insert(0)
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      try await store.chunks.bury(
        claim, reason: "crashed_workers", message: "Lost", consumer: "worker")
      #expect(try await store.record("j1").state == .done)
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      #expect(try await store.deadLetters.retry(letter.entry) == .gone)
      #expect(try await store.record("j1").isBalanced)
    }
  }
}
