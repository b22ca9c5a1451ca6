import Model
import Redis
import Testing

@testable import Store

/// How fast jobs start that tell of events in one bucket.
@Suite struct LoopGuardTests {
  private static let minuteMs: Int64 = 60_000

  private static func nowMs(_ store: ShardStore) async throws -> Int64 {
    let time = try await store.redis("TIME").array ?? []
    return Int64(time[0].integer ?? 0) * 1_000 + Int64(time[1].integer ?? 0) / 1_000
  }

  /// Admits an event. - Returns: what came of it, and the state of its record, if it has one.
  private static func admit(
    _ store: ShardStore, _ id: String, bucket: String? = "orders", perMinute: Int = 3,
    app: String = "shop"
  ) async throws -> (answer: AdmissionAnswer, state: JobState?) {
    let answer = try await store.admit(
      id, users: [["a"]], app: app, bucket: bucket, eventsPerMinute: perMinute)
    return (answer, try await store.jobs.record(app: app, id: id)?.state)
  }

  /// Up to when the turns of the bucket are given away.
  private static func give(_ store: ShardStore, untilMs: Int64) async throws {
    _ = try await store.redis(
      "SET", store.keys.loop(app: "shop", bucket: "orders"), String(untilMs))
  }

  @Test
  func `a minute's worth starts at once, as much waits for its turn, and the rest is refused`()
    async throws
  {
    try await Lane.withStore { _, store in
      let beganMs = try await Self.nowMs(store)
      var states: [JobState?] = []
      for number in 0..<6 { states.append(try await Self.admit(store, "j\(number)").state) }
      #expect(states == [.running, .running, .running, .scheduled, .scheduled, .scheduled])
      #expect(try await Self.admit(store, "j6").answer == .looping)
      #expect(try await store.jobs.record(app: "shop", id: "j6")?.isAdmitted != true)
      for (id, seconds) in [("j3", 20), ("j4", 40), ("j5", 60)] {
        let key = store.keys.job(app: "shop", id: id)
        let startAtMs = try #require(
          Int64(try await store.redis("HGET", key, "start_at").string ?? ""))
        let wanted = Int64(seconds) * 1_000
        #expect((wanted...wanted + 5_000).contains(startAtMs - beganMs), "\(id)")
      }
      let due = try await store.chunks.promote(max: 10)
      #expect(due.taken == 0 && due.nextDueMs ?? 0 > 10_000)
      #expect(try await store.chunks.claim(consumer: "w", max: 9).count == 3)
      let ttlMs = try await store.redis(
        "PTTL", store.keys.loop(app: "shop", bucket: "orders")
      ).integer
      #expect((1...2 * Int(Self.minuteMs)).contains(ttlMs ?? 0))
    }
  }

  @Test func `jobs to a topic take turns, beside those of buckets and of other topics`()
    async throws
  {
    try await Lane.withStore { _, store in
      func admit(_ id: String, _ topic: String, bucket: String? = nil) async throws -> (
        AdmissionAnswer, JobState?
      ) {
        let entry = try await store.takeNew()
        let admission = Admission(
          app: "shop", id: id, digest: "d", content: Array("{}".utf8),
          audience: Admission.Audience(
            lines: .users, recipients: 0, segments: 0, index: .topic(topic)),
          loopGuard: Admission.LoopGuard(bucket: bucket, eventsPerMinute: 2))
        let answer = try await store.jobs.admit(entry, admission, consumer: "worker")
        if answer == .looping {
          try await store.jobs.refuse(
            entry, Refusal(reason: "loop_guard", field: "/audience/topic", message: "m"),
            consumer: "worker")
        }
        return (answer, try await store.jobs.record(app: "shop", id: id)?.state)
      }
      try await store.subscribe(["a"], to: "orders")
      try await store.subscribe(["a"], to: "news")
      var states: [JobState?] = []
      for number in 0..<4 { states.append(try await admit("j\(number)", "orders").1) }
      #expect(states == [.running, .running, .scheduled, .scheduled])
      #expect(try await admit("j4", "orders").0 == .looping)
      // An event has the turns of its bucket, though both are called alike.
      #expect(try await admit("e1", "orders", bucket: "orders").1 == .running)
      #expect(try await admit("n1", "news").1 == .running)
      let alarm = try #require(
        try await store.alarms.current(nowMs: Self.nowMs(store)).first)
      #expect(alarm.field == "topic_loop|shop|orders")
      #expect(alarm.message.contains("more than 2 jobs a minute to the topic orders"))
    }
  }

  @Test func `a bucket waits for no other, nor does another app or a job without an event`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await Self.give(store, untilMs: try await Self.nowMs(store) + Self.minuteMs)
      #expect(try await Self.admit(store, "j0").answer == .looping)
      #expect(try await Self.admit(store, "j1", bucket: "carts").state == .running)
      #expect(try await Self.admit(store, "j2", app: "other").state == .running)
      #expect(try await Self.admit(store, "j3", bucket: nil).state == .running)
      #expect(try await Self.admit(store, "j4", perMinute: 0).state == .running)
      let keys = try await store.allKeys().filter { $0.contains(":loop:") }
      #expect(
        keys == [
          store.keys.loop(app: "other", bucket: "orders"),
          store.keys.loop(app: "shop", bucket: "carts"),
          store.keys.loop(app: "shop", bucket: "orders"),
        ])
    }
  }

  @Test func `what has waited starts when its turn has come`() async throws {
    try await Lane.withStore { _, store in
      // The next turn is a second after the last.
      let beganMs = try await Self.nowMs(store)
      try await Self.give(store, untilMs: beganMs)
      #expect(try await Self.admit(store, "j1", perMinute: 60).state == .scheduled)
      var claims: [ChunkClaim] = []
      while claims.isEmpty, try await Self.nowMs(store) < beganMs + Self.minuteMs {
        _ = try await store.chunks.promote(max: 10)
        claims = try await store.chunks.claim(consumer: "w", max: 1)
      }
      #expect(claims.map(\.job) == ["j1"])
      let record = try await store.record("j1")
      #expect(record.state == .running && record.startedAtMs ?? 0 >= beganMs + 1_000)
    }
  }

  @Test func `one that waits can be paused, resumed and cancelled`() async throws {
    try await Lane.withStore { _, store in
      try await Self.give(store, untilMs: try await Self.nowMs(store))
      for id in ["j1", "j2"] {
        #expect(try await Self.admit(store, id).state == .scheduled)
      }
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .scheduled)
      #expect(try await store.jobs.cancel(app: "shop", id: "j2") == .cancelled)
      #expect(try await store.record("j2").counts.skipped == 1)
    }
  }

  @Test func `the same job again takes no turn, and a cancelled one needs none`() async throws {
    try await Lane.withStore { _, store in
      for _ in 0..<9 { _ = try await Self.admit(store, "j1") }
      #expect(try await Self.admit(store, "j2").state == .running)
      try await Self.give(store, untilMs: try await Self.nowMs(store) + Self.minuteMs)
      let entry = try await store.takeNew()
      let named = try await store.jobs.reserve(
        entry, app: "shop", id: "j3", digest: "digest", consumer: "worker")
      #expect(named == .new)
      #expect(try await store.jobs.cancel(app: "shop", id: "j3") == .cancelled)
      let admission = Admission(
        app: "shop", id: "j3", digest: "digest", content: Array("{}".utf8),
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("a\n".utf8)]),
        loopGuard: Admission.LoopGuard(bucket: "orders", eventsPerMinute: 3))
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      #expect(try await store.record("j3").state == .cancelled)
    }
  }

  @Test func `a clock that was set back, or another's value, holds nothing up for long`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await Self.give(store, untilMs: try await Self.nowMs(store) + 60 * Self.minuteMs)
      #expect(try await Self.admit(store, "j1").state == .scheduled)
      let key = store.keys.loop(app: "shop", bucket: "orders")
      _ = try await store.redis("DEL", key)
      _ = try await store.redis("LPUSH", key, "x")
      #expect(try await Self.admit(store, "j2").state == .running)
    }
  }

  @Test func `an alarm stands while events wait, and says what to look for`() async throws {
    try await Lane.withStore { _, store in
      func alarms() async throws -> [Alarm] {
        try await store.alarms.current(nowMs: try await Self.nowMs(store))
      }
      for number in 0..<3 { _ = try await Self.admit(store, "j\(number)") }
      #expect(try await alarms() == [])
      _ = try await Self.admit(store, "j3")
      let alarm = try #require(try await alarms().first)
      #expect(alarm.field == "loop|shop|orders")
      #expect(alarm.message.contains("more than 3 events a minute of the bucket orders"))
      // It is renewed now and then, not each time.
      _ = try await Self.admit(store, "j4")
      #expect(try await alarms() == [alarm])
      // Loops leave places to other alarms.
      for number in 0..<130 {
        try await store.alarms.raise("a\(number)", by: "w", lifeMs: 60_000, message: "m")
      }
      try await store.alarms.clear("loop|shop|orders", by: "store")
      _ = try await Self.admit(store, "j5")
      #expect(try await alarms().count == 130)
    }
  }

  @Test func `texts of refused events are kept up to a bound, and counted beyond`() async throws {
    try await Lane.withStore { _, store in
      func refuse(_ text: String, app: String = "shop", reason: String = "loop_guard")
        async throws
      {
        _ = try await store.jobs.enqueue(Array(text.utf8), priority: .low)
        let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
        let refusal = Refusal(
          reason: reason, field: "/event/bucket_id", message: "m", app: app, id: "x")
        #expect(try await store.jobs.refuse(entry, refusal, consumer: "w"))
      }
      func letters() async throws -> [DeadLetter] { try await store.deadLetters.list(max: 99) }
      try await refuse("{}")
      #expect(try await letters().map(\.count) == [nil])
      #expect(try await store.deadLetters.retry(try await letters()[0].entry) != .gone)
      _ = try await store.jobs.take(consumer: "w", max: 1)
      let key = store.keys.loopLetters(app: "shop")
      _ = try await store.redis("HSET", key, "bytes", String(16 << 20))
      for text in ["{}", "{}", String(repeating: " ", count: 20_000)] { try await refuse(text) }
      let counted = try #require(try await letters().first)
      // A loop would fill Redis with their records, too.
      #expect(try await store.jobs.record(app: "shop", id: "x") == nil)
      #expect(try await letters().count == 1 && counted.count == 3 && counted.isTruncated)
      #expect(counted.reason == "loop_guard" && counted.message.contains("are not kept"))
      #expect(try await store.deadLetters.retry(counted.entry) == .gone)
      // Neither another app's nor another reason's.
      try await refuse("{}", app: "other")
      #expect(try await store.record("x", app: "other").refusal?.reason == "loop_guard")
      let kept = try await store.redis("TTL", store.keys.job(app: "other", id: "x")).integer ?? 0
      #expect((86_000...86_400).contains(kept))
      try await refuse("{}", reason: "invalid_job")
      #expect(try await letters().map(\.count) == [3, nil, nil])
      #expect(try await store.deadLetters.drop(counted.entry))
      try await refuse("{}")
      #expect(try await letters().last?.count == 1)
      // A day later.
      let since = try await Self.nowMs(store) - 1_440 * Self.minuteMs
      _ = try await store.redis("HSET", key, "since", String(since))
      try await refuse("{}")
      #expect(try await letters().last?.count == nil)
      #expect(try await store.allKeys().filter { $0.contains(":letter:") } == [])
      #expect(try await store.redis("PTTL", key).integer ?? 0 > 0)
    }
  }
}
