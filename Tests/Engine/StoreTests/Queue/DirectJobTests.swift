import Model
import Redis
import Testing

@testable import Store

/// Jobs that are sent from their entries: only a name stands in Redis until they have ended.
@Suite struct DirectJobTests {
  private static func admission(_ id: String, digest: String = "d") -> Admission {
    var admission = Admission(
      app: "shop", id: id, digest: digest, content: Array("{}".utf8),
      audience: Admission.Audience(lines: .users, recipients: 1, segments: 1))
    admission.audience.texts = [Array("u1\n".utf8)]
    admission.retention.seconds = 60
    return admission
  }

  /// Takes a job and its name.
  private func begin(_ store: ShardStore, id: String = "j1", digest: String = "d") async throws
    -> DirectJob
  {
    let job = DirectJob(
      entry: try await store.takeNew(), admission: Self.admission(id, digest: digest))
    #expect(try await store.jobs.direct.begin([job], consumer: "worker") == [.success(.new)])
    return job
  }

  private static func ending(
    _ job: DirectJob, accepted: Int = 1, startedAtMs: Int64 = 1_800_000_000_000
  ) -> DirectEnding {
    DirectEnding(
      job: job, startedAtMs: startedAtMs,
      settlement: .final(accepted: accepted, users: 1))
  }

  @Test("a job that has ended has the record, notice and metrics of any other, and no entry")
  func ends() async throws {
    try await Lane.withStore { _, store in
      let job = try await begin(store)
      #expect(try await store.record("j1").state == .queued)
      let answers = try await store.jobs.direct.end([Self.ending(job)])
      #expect(answers == [.ended])
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 1 && record.total == 1)
      #expect(record.isBalanced && record.startedAtMs == 1_800_000_000_000)
      #expect(record.finishedAtMs != nil && record.createdAtMs != nil)
      let life = try await store.redis("TTL", "{pp}:job:shop:j1").integer
      #expect((50...60).contains(try #require(life)))
      #expect(try await store.redis("XLEN", "{pp}:finished").integer == 1)
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 0)
      #expect(try await store.redis("EXISTS", "{pp}:content:shop:j1").integer == 0)
      let metrics = try await store.redis("KEYS", "{pp}:metrics:*").array ?? []
      let key = try #require(metrics.first?.string)
      #expect(try await store.redis("HGET", key, "shop|apns|accepted").string == "1")
    }
  }

  @Test(
    "a record is kept for as long as it should be, and hardly longer", arguments: [0, 3_600_000])
  func keepsRecord(forMs: Int64) async throws {
    try await Lane.withStore { _, store in
      func secondsLeft(_ id: String) async throws -> Int {
        try #require(try await store.redis("TTL", "{pp}:job:shop:\(id)").integer)
      }
      func end(_ job: DirectJob) async throws {
        let time = try await store.redis("TIME").array?.first?.string.flatMap { Int64($0) }
        let ending = Self.ending(job, startedAtMs: try #require(time) * 1_000 - forMs)
        #expect(try await store.jobs.direct.end([ending]) == [.ended])
      }
      let plain = try await begin(store)
      #expect((110...120).contains(try await secondsLeft("j1")))
      try await end(plain)
      let kept = try await secondsLeft("j1")
      #expect(forMs == 0 ? (110...120).contains(kept) : (50...60).contains(kept))
      // What an operator stops stays, until it ends or goes on.
      let stopped = try await begin(store, id: "j2")
      _ = try await store.jobs.pause(app: "shop", id: "j2")
      #expect(try await secondsLeft("j2") == -1)
      try await end(stopped)
      #expect((50...60).contains(try await secondsLeft("j2")))
      let resumed = try await begin(store, id: "j3")
      _ = try await store.jobs.pause(app: "shop", id: "j3")
      _ = try await store.jobs.resume(app: "shop", id: "j3")
      try await end(resumed)
      let ofResumed = try await secondsLeft("j3")
      #expect(forMs == 0 ? (110...120).contains(ofResumed) : (50...60).contains(ofResumed))
      // One that is begun anew has the time of any other, also when it had as much as a job of many segments.
      let again = try await begin(store, id: "j4")
      _ = try await store.jobs.pause(app: "shop", id: "j4")
      _ = try await store.jobs.resume(app: "shop", id: "j4")
      let reserved = try await store.jobs.reserve(
        again.entry, app: "shop", id: "j4", digest: again.admission.digest, consumer: "worker")
      #expect(reserved == .new)
      #expect(try await secondsLeft("j4") > 1_000)
      #expect(try await store.jobs.direct.begin([again], consumer: "worker") == [.success(.new)])
      #expect((110...120).contains(try await secondsLeft("j4")))
    }
  }

  @Test("jobs of one batch are kept as long as each says, and longer when they did not end well")
  func keepsEachForItsTime() async throws {
    try await Lane.withStore { _, store in
      var jobs: [DirectJob] = []
      for (id, seconds) in [("a", 60), ("b", 60), ("c", 600), ("d", 60)] {
        var admission = Self.admission(id)
        admission.retention.seconds = seconds
        admission.retention.otherwiseSeconds = 7_200
        jobs.append(DirectJob(entry: try await store.takeNew(), admission: admission))
      }
      let answers = try await store.jobs.direct.begin(jobs, consumer: "worker")
      #expect(answers == jobs.map { _ in .success(.new) })
      let time = try await store.redis("TIME").array?.first?.string.flatMap { Int64($0) }
      let nowMs = try #require(time) * 1_000
      let endings = jobs.map { job in
        var settlement = Settlement.final(accepted: 1, users: 1)
        if job.admission.id == "b" {
          var counts = OutcomeCounts()
          counts.rejected = 1
          settlement.counts = [.apns: counts]
        }
        return DirectEnding(job: job, startedAtMs: nowMs, settlement: settlement)
      }
      #expect(try await store.jobs.direct.end(endings) == jobs.map { _ in .ended })
      for (id, expected) in [
        ("a", 110...120), ("b", 7_190...7_200), ("c", 650...660), ("d", 110...120),
      ] {
        let left = try await store.redis("TTL", "{pp}:job:shop:\(id)").integer
        #expect(expected.contains(try #require(left)), "\(id)")
      }
    }
  }

  @Test("two jobs of one name in a batch are one, or in conflict", arguments: ["d", "other"])
  func sameNameTogether(digest: String) async throws {
    try await Lane.withStore { _, store in
      var jobs: [DirectJob] = []
      for digest in ["d", digest] {
        jobs.append(
          DirectJob(
            entry: try await store.takeNew(), admission: Self.admission("j1", digest: digest)))
      }
      let answers = try await store.jobs.direct.begin(jobs, consumer: "worker")
      let second = digest == "d" ? AdmissionAnswer.duplicate : .conflict
      #expect(answers == [.success(.new), .success(second)])
    }
  }

  @Test("of a batch's jobs each is looked for, whatever the order and the ids")
  func foundInAnyOrder() async throws {
    try await Lane.withStore { _, store in
      // Lua takes the times of the last two for one number.
      let ids = [
        "5-18446744073709551615", "7-1", "5-1", "18446744073709551614-1", "18446744073709551615-1",
      ]
      var jobs: [DirectJob] = []
      for id in [ids[2], ids[0], ids[1], ids[3], ids[4]] {
        _ = try await store.redis("XADD", "{pp}:jobs:normal", id, "job", "{}")
        let entry = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
        #expect(entry.entry == id)
        jobs.append(DirectJob(entry: entry, admission: Self.admission("job-\(id)")))
      }
      jobs.swapAt(0, 2)
      let stranger = try await store.jobs.direct.begin(jobs, consumer: "stranger")
      #expect(stranger == Array(repeating: .success(.stale), count: ids.count))
      let answers = try await store.jobs.direct.begin(jobs, consumer: "worker")
      #expect(answers == Array(repeating: .success(.new), count: ids.count))
      let leases = try await store.jobs.heartbeat(jobs.map(\.entry), consumer: "worker")
      #expect(leases == Array(repeating: .ok, count: ids.count))
      let endings = try await store.jobs.direct.end(jobs.map { Self.ending($0) })
      #expect(endings == Array(repeating: .ended, count: ids.count))
    }
  }

  @Test("an end that is told twice counts once")
  func repeats() async throws {
    try await Lane.withStore { _, store in
      let ending = Self.ending(try await begin(store))
      for _ in 0..<2 {
        #expect(try await store.jobs.direct.end([ending]) == [.ended])
      }
      #expect(try await store.record("j1").counts.accepted == 1)
      #expect(try await store.redis("XLEN", "{pp}:finished").integer == 1)
    }
  }

  @Test("of a job that another worker has taken over counts what the first of them tells")
  func endedWhileTakenOver() async throws {
    try await Lane.withStore { _, store in
      let job = try await begin(store)
      let again = try #require(
        try await store.jobs.take(consumer: "other", max: 1, abandonedForMs: 0).first)
      #expect(again.deliveries == 2 && again.entry == job.entry.entry)
      #expect(
        try await store.jobs.direct.admit(
          begun: job, content: [0x7b, 0x7d], startedAtMs: 1, consumer: "worker") == nil,
        "it goes on nowhere else")
      #expect(try await store.jobs.direct.end([Self.ending(job)]) == [.ended])
      let answer = try await store.jobs.admit(again, job.admission, consumer: "other")
      #expect(answer == .stale, "it is over")
      #expect(try await store.record("j1").counts.accepted == 1)
      #expect(try await store.redis("XLEN", "{pp}:finished").integer == 1)
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 0)
    }
  }

  @Test("what another worker goes on with as a chunk counts for nobody but it")
  func takenOver() async throws {
    try await Lane.withStore { _, store in
      let job = try await begin(store)
      let again = try #require(
        try await store.jobs.take(consumer: "other", max: 1, abandonedForMs: 0).first)
      let answer = try await store.jobs.admit(again, job.admission, consumer: "other")
      #expect(answer == .admitted)
      #expect(try await store.jobs.direct.end([Self.ending(job)]) == [.stale])
      #expect(try await store.record("j1").counts.accepted == 0)
    }
  }

  @Test("a job that lasts becomes a chunk that its worker has")
  func becomesChunk() async throws {
    try await Lane.withStore { _, store in
      let job = try await begin(store)
      let claim = try #require(
        try await store.jobs.direct.admit(
          begun: job, content: [0x7b, 0x7d], startedAtMs: 1_800_000_000_000, consumer: "worker"))
      let again = try await store.jobs.direct.admit(
        begun: job, content: [0x7b, 0x7d], startedAtMs: 1_800_000_000_000, consumer: "worker")
      #expect(again?.entry == claim.entry, "as after a lost reply")
      let others = try await store.jobs.direct.admit(
        begun: job, content: [0x7b, 0x7d], startedAtMs: 1_800_000_000_000, consumer: "other")
      #expect(others == nil)
      #expect(try await store.record("j1").state == .running)
      // Nobody else is given it, and whoever comes upon it leaves it alone.
      #expect(try await store.chunks.claim(consumer: "other", max: 4).isEmpty)
      #expect(try await store.chunks.heartbeat([claim], consumer: "worker") == [.ok])
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .ok)
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 1 && record.isBalanced)
      #expect(record.startedAtMs == 1_800_000_000_000)
    }
  }

  @Test("a job that is paused or cancelled while it is sent counts what was sent of it")
  func stopped() async throws {
    try await Lane.withStore { _, store in
      let ended = try await begin(store, id: "ended")
      let left = try await begin(store, id: "left")
      for id in ["ended", "left"] {
        #expect(try await store.jobs.cancel(app: "shop", id: id) == .cancelled)
      }
      #expect(try await store.jobs.direct.end([Self.ending(ended)]) == [.ended])
      var record = try await store.record("ended")
      #expect(record.state == .cancelled && record.counts.accepted == 1 && record.isBalanced)
      let claim = try #require(
        try await store.jobs.direct.admit(
          begun: left, content: [0x7b, 0x7d], startedAtMs: 1, consumer: "worker"))
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .cancelled)
      record = try await store.record("left")
      #expect(record.state == .cancelled && record.counts.accepted == 1 && record.isBalanced)
    }
  }

  @Test("a job that was stopped while it waited is to be admitted")
  func stoppedBefore() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      let answer = try await store.jobs.waiting.takeName(
        "shop", "j1", digest: "d", priority: entry.priority, entry: entry.entry)
      #expect(answer == .new)
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      let job = DirectJob(entry: entry, admission: Self.admission("j1"))
      #expect(
        try await store.jobs.direct.begin([job], consumer: "worker") == [.success(.cancelled)])
    }
  }

  @Test("a job that was given a pace while it waited is to be admitted")
  func paced() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      let answer = try await store.jobs.reserve(
        entry, app: "shop", id: "j1", digest: "d", consumer: "worker")
      #expect(answer == .new)
      _ = try await store.jobs.setPace(app: "shop", id: "j1", perSecond: 10)
      let job = DirectJob(entry: entry, admission: Self.admission("j1"))
      #expect(
        try await store.jobs.direct.begin([job], consumer: "worker") == [.success(.cancelled)])
    }
  }

  @Test("the same job again is ignored, another of its name is refused, while it is sent and after")
  func names() async throws {
    try await Lane.withStore { _, store in
      let first = try await begin(store)
      for isEnded in [false, true] {
        if isEnded {
          _ = try await store.jobs.direct.end([Self.ending(first)])
        }
        let same = DirectJob(entry: try await store.takeNew(), admission: Self.admission("j1"))
        let other = DirectJob(
          entry: try await store.takeNew(), admission: Self.admission("j1", digest: "e"))
        let answers = try await store.jobs.direct.begin([same, other], consumer: "worker")
        #expect(answers == [.success(.duplicate), .success(.conflict)])
        try await store.jobs.refuse(
          other.entry,
          Refusal(reason: "id_conflict", field: "/id", message: "taken", app: "shop", id: "j1"),
          consumer: "worker")
      }
      #expect(try await store.record("j1").counts.accepted == 1)
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 0)
    }
  }

  @Test("counts that do not add up are not believed")
  func wrongCounts() async throws {
    try await Lane.withStore { _, store in
      let job = try await begin(store)
      let answers = try await store.jobs.direct.end([Self.ending(job, accepted: 2)])
      #expect(answers == [.admit])
      #expect(try await store.record("j1").state == .queued)
    }
  }
}
