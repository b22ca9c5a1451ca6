import Model
import Redis
import Testing

@testable import Store

@Suite struct JobQueueTests {
  @Test func `jobs are taken high before normal before low`() async throws {
    try await Lane.withStore { _, store in
      for priority in [Priority.low, .normal, .high] {
        _ = try await store.jobs.enqueue(Array(priority.rawValue.utf8), priority: priority)
      }
      let entries = try await store.jobs.take(consumer: "w", max: 5)
      #expect(entries.map(\.priority) == [.high, .normal, .low])
      #expect(
        entries.map { String(decoding: $0.text, as: UTF8.self) } == ["high", "normal", "low"])
      #expect(try await store.jobs.take(consumer: "w", max: 5) == [])
    }
  }

  @Test func `an abandoned entry goes to another worker, a live one does not`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew("dead")
      #expect(
        try await store.jobs.take(consumer: "live", max: 1, abandonedForMs: 60_000) == [])
      let again = try await store.jobs.take(consumer: "live", max: 1, abandonedForMs: 0)
      #expect(again.map(\.entry) == [entry.entry])
      #expect(again.first?.deliveries == 2)
      #expect(try await store.jobs.heartbeat([entry], consumer: "dead") == [.stale])
      #expect(try await store.jobs.heartbeat([entry], consumer: "live") == [.ok])
      let answer = try await store.jobs.reserve(
        entry, app: "shop", id: "j", digest: "d", consumer: "dead")
      #expect(answer == .stale)
      #expect(try await store.jobs.record(app: "shop", id: "j") == nil)
    }
  }

  @Test func `jobs of one lost worker go to another together, whatever lives before them`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.takeNew("live", count: 200)
      let lost = try await store.takeNew("dead", count: 20)
      try await store.abandon(lost.map(\.entry))
      let first = try await store.jobs.take(consumer: "heir", max: 100, abandonedForMs: 400_000)
      let second = try await store.jobs.take(consumer: "heir", max: 100, abandonedForMs: 400_000)
      #expect(first.map(\.entry) + second.map(\.entry) == lost.map(\.entry))
      #expect(first.count == 16 && first.allSatisfy { $0.deliveries == 2 })
    }
  }

  @Test func `a job that lost two workers is taken over alone`() async throws {
    try await Lane.withStore { _, store in
      let lost = try await store.takeNew("dead", count: 6)
      try await store.abandon(lost.map(\.entry))
      let twice = try await store.jobs.take(consumer: "heir", max: 3, abandonedForMs: 400_000)
      #expect(twice.map(\.entry) == lost.prefix(3).map(\.entry))
      try await store.abandon(lost.map(\.entry))
      var taken: [[String]] = []
      for round in 0..<5 {
        taken.append(
          try await store.jobs.take(consumer: "w\(round)", max: 100, abandonedForMs: 400_000)
            .map(\.entry))
      }
      let ids = lost.map(\.entry)
      #expect(taken == [[ids[0]], [ids[1]], [ids[2]], [ids[3], ids[4], ids[5]], []])
    }
  }

  @Test func `what a living lane left lying has lost no worker, however often it is taken over`()
    async throws
  {
    try await Lane.withStore { _, store in
      let lost = try await store.takeNew("alive-0", count: 3).map(\.entry)
      _ = try await store.workers.beat(worker: "alive", fields: [])
      _ = try await store.redis("SET", store.keys.workersSince, "1")
      for _ in 0..<6 {
        try await store.abandon(lost, by: "alive-0")
        var taken: [JobEntry] = []
        var isTold = false
        taken += try await store.jobs.take(
          consumer: "heir", max: 100, abandonedForMs: 400_000, onTakeOver: { isTold = true },
          beforeReading: { taken += $0 })
        #expect(taken.map(\.entry) == lost && taken.allSatisfy { $0.deliveries == 1 })
        #expect(isTold)
      }
    }
  }

  @Test func `an admitted job has a record, content and chunks, and its entry is gone`()
    async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await store.admit("j1", users: [["a", "b"], ["c"]]) == .admitted)
      let record = try await store.record("j1")
      #expect(record.state == .running)
      #expect(record.total == 3 && record.pending == 3 && record.isBalanced)
      #expect(record.priority == .normal)
      #expect(try await store.jobs.content(app: "shop", id: "j1") == Array("{\"content\":1}".utf8))
      let status = try await store.backlog.status()
      #expect(status.jobs[.normal] == 0)
      #expect(status.chunks[.normal] == 2)
      #expect(
        try await store.redis("XPENDING", store.keys.jobs(.normal), "workers").array?.first
          == .integer(0))
    }
  }

  @Test(arguments: [64, 1_200])
  func `many leases are renewed together, and none that belongs to another`(count: Int) async throws
  {
    try await Lane.withStore { _, store in
      let key = store.keys.jobs(.normal)
      _ = try await store.redis("XGROUP", "CREATE", key, "workers", "0", "MKSTREAM")
      for _ in 0..<count { _ = try await store.redis("XADD", key, "*", "job", "{}") }
      let reply = try await store.redis(
        "XREADGROUP", "GROUP", "workers", "w", "COUNT", "\(count)", "STREAMS", key, ">")
      let ids = (reply.array?.first?.array?[1].array ?? []).compactMap { $0.array?[0].string }
      try #require(ids.count == count)
      for lost in [ids[3], ids[count - 1]] {
        _ = try await store.redis("XCLAIM", key, "workers", "other", "0", lost)
      }
      let entries = ids.map { JobEntry(priority: .normal, entry: $0, text: []) }
      _ = try await store.redis("CONFIG", "RESETSTAT")
      let standings = try await store.jobs.heartbeat(entries, consumer: "w")
      #expect(standings.count { $0 == .ok } == count - 2)
      #expect(standings[3] == .stale && standings[count - 1] == .stale)
      let information = try await store.redis("INFO", "commandstats").string ?? ""
      let claims = information.split(separator: "cmdstat_xclaim:calls=").dropFirst().first
      #expect(claims.flatMap { Int($0.prefix { $0.isNumber }) } == (count + 498) / 500)
      let pending = try await store.redis("XPENDING", key, "workers", "-", "+", "9999", "other")
      #expect(pending.array?.count == 2)
    }
  }

  @Test func `a job for nobody is done at once`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.admit("j1", users: []) == .admitted)
      let record = try await store.record("j1")
      #expect(record.state == .done)
      #expect(record.total == 0 && record.finishedAtMs != nil)
      #expect(try await store.redis("XLEN", store.keys.finished) == .integer(1))
    }
  }

  @Test func `the same job again is a duplicate, another with its id a conflict`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.admit("j1", users: [["a"]], digest: "one") == .admitted)
      #expect(try await store.admit("j1", users: [["a"]], digest: "one") == .duplicate)
      #expect(try await store.admit("j1", users: [["a"]], digest: "two") == .conflict)
      let status = try await store.backlog.status()
      #expect(status.jobs[.normal] == 1, "the conflict's entry waits to be refused")
      #expect(status.chunks[.normal] == 1)
    }
  }

  @Test func `a name is reserved before the upload, and a crash in between is taken up again`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew("first")
      let other = try await store.takeNew("second")
      let jobs = store.jobs
      #expect(
        try await jobs.reserve(entry, app: "shop", id: "j", digest: "d", consumer: "first") == .new)
      #expect(
        try await jobs.reserve(other, app: "shop", id: "j", digest: "d", consumer: "second")
          == .duplicate)
      let again = try await jobs.take(consumer: "third", max: 1, abandonedForMs: 0)
      let retaken = try #require(again.first)
      #expect(retaken.entry == entry.entry)
      #expect(
        try await jobs.reserve(retaken, app: "shop", id: "j", digest: "d", consumer: "third")
          == .new)
      let admission = Admission(
        app: "shop", id: "j", digest: "d", content: [],
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("u\n".utf8)]))
      #expect(try await jobs.admit(entry, admission, consumer: "first") == .stale)
      #expect(try await jobs.admit(retaken, admission, consumer: "third") == .admitted)
      #expect(try await jobs.admit(retaken, admission, consumer: "third") == .stale)
      #expect(try await store.claimOne().recipientList == ["u"])
    }
  }

  @Test func `segments that are told with the admission are the job's, in their order`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew("w")
      let admission = Admission(
        app: "shop", id: "j", digest: "d", content: [],
        audience: Admission.Audience(
          lines: .users, recipients: 3, segments: 3, window: 2,
          texts: ["a\n", "b\n", "c\n"].map { Array($0.utf8) }))
      #expect(try await store.jobs.admit(entry, admission, consumer: "w") == .admitted)
      var found: [String] = []
      for _ in 0..<3 {
        let claim = try await store.claimOne()
        #expect(claim.segment == String(found.count + 1))
        found += claim.recipientList
        var settlement = Settlement()
        settlement.isFinal = true
        settlement.resolveUser(installations: 0)
        #expect(
          try await store.chunks.settle(claim, settlement, consumer: "worker").standing == .ok)
      }
      #expect(found == ["a", "b", "c"])
      let other = try await store.takeNew("w")
      var short = admission
      (short.id, short.audience.segments) = ("k", 4)
      await #expect(throws: RedisError.self) {
        try await store.jobs.admit(other, short, consumer: "w")
      }
      #expect(try await store.redis("KEYS", "*:segment:*").array?.count == 0)
    }
  }

  @Test func `a refused job is a dead letter that names the field, and its name is free again`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew("w")
      _ = try await store.jobs.reserve(entry, app: "shop", id: "j", digest: "d", consumer: "w")
      let refusal = Refusal(
        reason: "invalid_job", field: "/audience", message: "audience is missing", app: "shop",
        id: "j")
      #expect(try await store.jobs.refuse(entry, refusal, consumer: "other") == false)
      #expect(try await store.jobs.refuse(entry, refusal, consumer: "w"))
      #expect(try await store.jobs.refuse(entry, refusal, consumer: "w") == false)
      let letters = try await store.deadLetters.list(max: 10)
      #expect(letters.count == 1)
      let letter = try #require(letters.first)
      #expect(letter.reason == "invalid_job" && letter.field == "/audience" && letter.id == "j")
      #expect(letter.original == nil)
      #expect(try await store.deadLetters.show(letter.entry)?.original == "{}")
      #expect(try await store.record("j").state == .refused)
      let next = try await store.takeNew("w")
      let answer = try await store.jobs.reserve(
        next, app: "shop", id: "j", digest: "e", consumer: "w")
      #expect(answer == .new)
      try await store.jobs.refuse(next, refusal, consumer: "w")
      #expect(try await store.backlog.status().jobs[.normal] == 0)
    }
  }

  @Test func `an entry without a job and one over the limit are dead letters`() async throws {
    try await Lane.withStore { _, store in
      let malformed = try await store.redis("XADD", store.keys.jobs(.high), "*", "jbo", "{}")
      let huge = [UInt8](repeating: 120, count: Limits.jobBytesMax + 1)
      _ = try await store.jobs.enqueue(huge, priority: .normal)
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      var refused: [RefusedEntry] = []
      let taken = try await store.jobs.take(consumer: "w", max: 3) { refused.append($0) }
      let more = try await store.jobs.take(consumer: "w", max: 3) { refused.append($0) }
      #expect(refused.map(\.reason) == ["malformed_entry", "too_large"])
      #expect(refused.map(\.priority) == [.high, .normal])
      #expect(refused.first?.entry == malformed.string)
      #expect((taken + more).map(\.text) == [Array("{}".utf8)])
      let letters = try await store.deadLetters.list(max: 10)
      #expect(letters.map(\.reason) == ["malformed_entry", "too_large"])
      #expect(letters.last?.isTruncated == true)
      #expect(try await store.deadLetters.show(letters[1].entry)?.original?.utf8.count == 4_096)
    }
  }

  @Test func `a flood of entries that are no jobs is cleared away in steps`() async throws {
    try await Lane.withStore { _, store in
      for _ in 0..<100 {
        _ = try await store.redis("XADD", store.keys.jobs(.normal), "*", "x", "")
      }
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      var refused = 0
      #expect(try await store.jobs.take(consumer: "w", max: 2) { _ in refused += 1 } == [])
      #expect(refused == 64)
      #expect(try await store.jobs.take(consumer: "w", max: 2) { _ in refused += 1 }.count == 1)
      #expect(refused == 100)
    }
  }

  @Test func `a job that crashes its workers is a dead letter in the end`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.takeNew("w0")
      for round in 1...4 {
        let again = try await store.jobs.take(
          consumer: "w\(round)", max: 1, abandonedForMs: 0)
        #expect(again.count == 1)
      }
      #expect(try await store.jobs.take(consumer: "w5", max: 1, abandonedForMs: 0) == [])
      #expect(try await store.deadLetters.list(max: 10).map(\.reason) == ["crashed_workers"])
    }
  }

  @Test func `cancelling counts everything that was not sent as skipped`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"], ["c"], ["d", "e", "f"]], window: 2)
      let claim = try await store.claimOne()
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      #expect(try await store.chunks.heartbeat([claim], consumer: "worker") == [.cancelled])
      #expect(try await store.chunks.claim(consumer: "worker", max: 5) == [])
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, skipped: 1, users: 2), consumer: "worker")
      #expect(answer.standing == .cancelled)
      let record = try await store.record("j1")
      #expect(record.state == .cancelled && record.isBalanced)
      #expect(record.counts.accepted == 1 && record.counts.skipped == 5 && record.pending == 0)
      #expect(record.finishedAtMs != nil)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      #expect(try await store.redis("XLEN", store.keys.finished) == .integer(1))
      #expect(
        try await store.allKeys().filter { $0.contains(":segment:") || $0.contains(":done:") } == []
      )
    }
  }

  @Test func `a job that was cancelled before it began is told among those that ended`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]], startAtMs: 4_000_000_000_000)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      let ended = try await store.jobs.ended(max: 9)
      #expect(ended.map(\.id) == ["j1"] && ended.map(\.state) == [.cancelled])
      #expect(ended.first?.startedAtMs == nil && ended.first?.counts.skipped == 1)
    }
  }

  @Test func `a paused job keeps its chunks until it is resumed, progress included`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"], ["c"]])
      let claim = try await store.claimOne()
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      var partial = Settlement()
      partial.done.insert(0)
      partial.counts = [.apns: counts(accepted: 1)]
      partial.resolveUser(installations: 1)
      let answer = try await store.chunks.settle(claim, partial, consumer: "worker")
      #expect(answer.standing == .paused)
      #expect(try await store.chunks.handBack([claim], consumer: "worker") == 1)
      #expect(try await store.chunks.claim(consumer: "worker", max: 5) == [])
      #expect(try await store.record("j1").state == .paused)

      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      #expect(try await store.chunks.promote(max: 10).taken == 2)
      let claims = try await store.chunks.claim(consumer: "other", max: 5)
      #expect(claims.map(\.recipientList).sorted { $0[0] < $1[0] } == [["a", "b"], ["c"]])
      #expect(claims.first { $0.recipientList[0] == "a" }?.done == partial.done)
      #expect(claims.allSatisfy { $0.crashes == 0 })
    }
  }

  @Test func `an unknown job can be neither cancelled nor paused nor resumed`() async throws {
    try await Lane.withStore { _, store in
      let cancelled = try await store.jobs.cancel(app: "shop", id: "no")
      #expect(cancelled == nil)
      #expect(try await store.jobs.pause(app: "shop", id: "no") == nil)
      #expect(try await store.jobs.resume(app: "shop", id: "no") == nil)
      #expect(try await store.jobs.record(app: "shop", id: "no") == nil)
    }
  }

  @Test func `a job with a start time waits for it, and can be cancelled before`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]], startAtMs: 4_000_000_000_000)
      #expect(try await store.record("j1").state == .scheduled)
      let promoted = try await store.chunks.promote(max: 10)
      #expect(promoted.taken == 0)
      #expect(try #require(promoted.nextDueMs) > 1_000_000)
      #expect(try await store.chunks.claim(consumer: "w", max: 1) == [])
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      let record = try await store.record("j1")
      #expect(record.counts.skipped == 1 && record.finishedAtMs != nil)
      #expect(try await store.backlog.status().delayed == 0)
    }
  }

  @Test func `a scheduled job runs when its time has come`() async throws {
    try await Lane.withStore { _, store in
      let now = Int64(try #require(try await store.redis("TIME").array?.first?.integer)) * 1_000
      try await store.admit("j1", users: [["a"]], startAtMs: now + 3_600_000)
      let key = store.keys.delayed
      let member = try #require(
        try await store.redis("ZRANGE", key, "0", "-1").array?.first?.string)
      _ = try await store.redis("ZADD", key, "1", member)
      _ = try await store.redis(
        "HSET", store.keys.job(app: "shop", id: "j1"), "start_at", String(now))
      #expect(try await store.chunks.promote(max: 10).taken == 1)
      #expect(try await store.record("j1").state == .running)
      #expect(try await store.claimOne().recipientList == ["a"])
    }
  }
}

func counts(accepted: Int = 0, rejected: Int = 0, failed: Int = 0) -> OutcomeCounts {
  var counts = OutcomeCounts()
  counts.accepted = accepted
  counts.rejected = rejected
  counts.failed = failed
  return counts
}
