import Logging
import Reactor
import Model
import Providers
import Redis
import Store
import Testing

@testable import Worker

@Suite struct AdmitterTests {
  private func enqueue(_ parts: LaneStage, _ job: String) async throws {
    _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: .normal)
  }

  private static func job(_ id: String, app: String = "shop", title: String = "Hi") -> String {
    """
    {"id":"\(id)","app":"\(app)","audience":{"users":["a"]},"notification":{"title":"\(title)"}}
    """
  }

  @Test("a job becomes a record and a chunk, and nothing is left to take")
  func admits() async throws {
    try await LaneStage.with { _, parts in
      #expect(try await parts.admitter.admitNext(abandonedForMs: nil).amount == .nothing)
      try await enqueue(parts, Self.job("sale"))
      #expect(try await parts.admitter.admitNext(abandonedForMs: nil).amount == .all)
      #expect(try await parts.record("sale").total == 1)
      #expect(try await parts.store.chunks.claim(consumer: "w", max: 2).map(\.job) == ["sale"])
      #expect(parts.lines.has(.info, "job admitted"))
      #expect(await parts.fetchSignal.wait(upToMs: 1), "its chunk is claimed at once")
    }
  }

  @Test(
    "what is no job, or cannot be sent to anybody, is a dead letter that names the field",
    arguments: [
      (
        #"{"app":"shop","audience":{"users":[7]},"notification":{"title":"Hi"}}"#,
        "/audience/users/0"
      ),
      (job("long", title: String(repeating: "x", count: 5_000)), "/notification"),
      (
        #"{"app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"},"localized":{"ja":{"title":"J"},"de":{"title":"\#(String(repeating: "x", count: 5_000))"}}}"#,
        "/localized/de"
      ),
    ])
  func refuses(job: String, field: String) async throws {
    try await LaneStage.with { _, parts in
      try await enqueue(parts, job)
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      let letter = try #require(try await parts.store.deadLetters.list(max: 1).first)
      #expect(letter.reason == "invalid_job" && letter.field == field)
      #expect(parts.lines.has(.notice, "job refused"))
    }
  }

  @Test(
    "a job of an app that this worker lacks stays in its stream, and those with it are admitted")
  func leavesStrangers() async throws {
    try await LaneStage.with { _, parts in
      let stranger = try await parts.store.jobs.enqueue(
        Array(Self.job("other", app: "market").utf8), priority: .normal)
      try await enqueue(parts, Self.job("sale"))
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      #expect(try await parts.store.jobs.isQueued(stranger, .normal))
      #expect(try await parts.store.deadLetters.count() == 0)
      #expect(try await parts.record("sale").total == 1)
    }
  }

  @Test(
    "segments reach the job whole, whether they are told with it or uploaded before",
    arguments: [(600, 1), (4_000, 0), (600, 100)])
  func keepsSegments(count: Int, padding: Int) async throws {
    try await LaneStage.with { _, parts in
      let users = (0..<count).map { String($0, radix: 36) + String(repeating: "x", count: padding) }
      let names = users.map { "\"\($0)\"" }.joined(separator: ",")
      try await enqueue(
        parts,
        #"{"id":"sale","app":"shop","audience":{"users":[\#(names)]},"notification":{"title":"Hi"}}"#
      )
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      if let large = parts.admitter.large.inHand.first {
        try await parts.admitter.admitLarge(large)
      }
      #expect(try await parts.record("sale").total == count)
      var found: [(number: Int, text: String)] = []
      while let claim = try await parts.store.chunks.claim(consumer: "w", max: 1).first {
        let text = String(decoding: claim.recipients, as: UTF8.self)
        found.append((try #require(Int(claim.segment)), text))
        var settlement = Settlement()
        settlement.isFinal = true
        settlement.resolveUser(installations: 0)
        _ = try await parts.store.chunks.settle(claim, settlement, consumer: "w")
      }
      found.sort { $0.number < $1.number }
      #expect(found.map(\.text).joined() == users.map { $0 + "\n" }.joined())
    }
  }

  @Test("of jobs that are admitted in several trips, one that Redis refuses keeps no other")
  func admitsAllOthers() async throws {
    try await LaneStage.with { _, parts in
      let count = 2 * WorkerLimits.admittedAtOnceMax + 1
      for number in 0..<count { try await enqueue(parts, Self.job("job-\(number)")) }
      _ = try await parts.redis("SET", "{pp}:job:shop:job-3", "text")
      let entries = try await parts.store.jobs.take(consumer: "test-0", max: count)
      #expect(entries.count == count)
      try await parts.admitter.admit(entries)
      #expect(try await parts.store.backlog.status().jobs[.normal] == 1)
      for number in 0..<count where number != 3 {
        #expect(try await parts.record("job-\(number)").total == 1)
      }
    }
  }

  @Test("a job of an app that this worker lacks waits for another that has it")
  func setsAside() async throws {
    try await LaneStage.with { _, parts in
      try await enqueue(parts, Self.job("sale", app: "news"))
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      #expect(try await parts.store.deadLetters.count() == 0)
      #expect(parts.lines.has(.info, "job left to a worker that has its app"))
      let news = try await parts.store.routes.announce(
        RouteTable(fields: [("news", "apns|production")]), waitMs: 60_000)
      #expect(news.hasWork)
    }
  }

  @Test(
    "a job for a network that an app of Redis has in another worker is taken in, and else refused")
  func heedsRedisApps() async throws {
    try await LaneStage.with { _, parts in
      let routes = parts.settings.shared.routes
      func take(_ id: String, isSharing: Bool) async throws -> Int? {
        routes.use(
          RouteNews(
            hasWork: false, isAnythingWaiting: false, isGathering: false, isSharing: isSharing,
            digests: []), new: [:])
        try await enqueue(
          parts,
          #"{"id":"\#(id)","app":"shop","audience":{"users":["a"]},"fcm":{"message":{"data":{"a":"b"}}}}"#
        )
        _ = try await parts.admitter.admitNext(abandonedForMs: nil)
        return try await parts.store.jobs.record(app: "shop", id: id)?.total
      }
      func letters() async throws -> [String] {
        try await parts.store.deadLetters.list(max: 9).map(\.reason)
      }
      _ = try await take("alone", isSharing: false)
      #expect(try await letters() == ["invalid_job"])
      let store = parts.store.routes
      try await store.add(redisApps: ["shop": "apns|production,fcm|production"], waitMs: 60_000)
      #expect(try await take("sale", isSharing: true) == 1)
      #expect(try await letters() == ["invalid_job"])
      try await store.remove(redisApps: ["shop"])
      routes.note(shared: ["shop"], places: [nil])
      _ = try await take("late", isSharing: true)
      #expect(try await letters() == ["invalid_job", "invalid_job"])
    }
  }

  @Test("a lane that goes by another snapshot takes in jobs of the app that it brings")
  func takesInNewApp() async throws {
    try await LaneStage.with { _, parts in
      let directory = ProviderDirectory(
        entries: try TestDirectory.of(.production).entries
          + TestDirectory.of(.production, app: "news", from: 1).entries)
      parts.parts.use(TestDirectory.snapshot(directory, apps: "shop", "news"))
      try await enqueue(parts, Self.job("sale", app: "news"))
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      #expect(try await parts.store.jobs.record(app: "news", id: "sale")?.total == 1)
      #expect(parts.parts.context.snapshot.routes.apps == ["news", "shop"])
    }
  }

  @Test("a job that comes twice is sent once, and another one of the same id is refused")
  func knowsIDs() async throws {
    try await LaneStage.with { _, parts in
      for job in [Self.job("sale"), Self.job("sale"), Self.job("sale", title: "Ho")] {
        try await enqueue(parts, job)
      }
      for _ in 0..<3 { _ = try await parts.admitter.admitNext(abandonedForMs: nil) }
      #expect(parts.lines.has(.info, "job ignored: it was enqueued before"))
      #expect(try await parts.store.deadLetters.list(max: 5).map(\.reason) == ["id_conflict"])
      #expect(try await parts.store.chunks.claim(consumer: "w", max: 5).count == 1)
    }
  }

  @Test(
    "of the events of a bucket those that would wait for too long are dead letters, and say why")
  func guardsAgainstLoops() async throws {
    try await LaneStage.with { _, parts in
      func event(_ id: String) -> String {
        """
        {"id":"\(id)","app":"shop","audience":{"users":["a"]},"kind":"push_to_app",
         "event":{"bucket_id":"orders","bucket_type":"rw","type":"DATA_OBJECT_UPDATED",
          "object_scope_app_id":"a1","object_scope_type":"APP"}}
        """
      }
      // Two a minute: two at once, two within a minute, and no more.
      for number in 0..<7 { try await parts.takeIn(event("e\(number)")) }
      for (id, state) in [("e1", JobState.running), ("e3", .scheduled)] {
        let record = try await parts.record(id)
        #expect(record.state == state && record.bucket == "orders")
      }
      let letter = try #require(try await parts.store.deadLetters.list(max: 9).first)
      #expect(letter.reason == "loop_guard" && letter.field == "/event/bucket_id")
      #expect(letter.id == "e4" && letter.message.contains("events_per_minute"))
      #expect(try await parts.record("e4").refusal?.letter == letter.entry)
      #expect(try await parts.store.deadLetters.count() == 3)
      let told = parts.lines.all.filter { $0.contains("events of the bucket orders come so fast") }
      #expect(told.count == 1)
    }
  }

  @Test("a job that Redis refuses keeps none that came with it from being admitted")
  func goesOnBehindRefused() async throws {
    try await LaneStage.with { _, parts in
      _ = try await parts.redis("SET", "{pp}:job:shop:bad", "a string")
      for id in ["bad", "good", "fine"] { try await enqueue(parts, Self.job(id)) }
      let entries = try await parts.store.jobs.take(consumer: "test-0", max: 3)
      try await parts.admitter.admit(entries)
      #expect(
        parts.lines.has(
          .warning, "taking a job in fails and is tried again",
          ["entry": entries[0].entry, "priority": "normal"]))
      #expect(try await parts.record("good").state == .running)
      #expect(try await parts.record("fine").state == .running)
      #expect(try await parts.store.backlog.status().jobs[.normal] == 1)
      // All are refused: the lane is to wait before it takes more.
      let error = await #expect(throws: RedisError.self) {
        try await parts.admitter.admit([entries[0]])
      }
      #expect(String(describing: error).contains("WRONGTYPE"))
    }
  }

  @Test("a large job waits to be taken in by itself")
  func setsLargeApart() async throws {
    try await LaneStage.with { _, parts in
      let users = (0..<4_000).map { "\"user-\($0)\"" }.joined(separator: ",")
      try await enqueue(
        parts,
        #"{"id":"big","app":"shop","audience":{"users":[\#(users)]},"notification":{"title":"Hi"}}"#
      )
      #expect(try await parts.admitter.admitNext(abandonedForMs: nil).amount == .maybeMore)
      let entry = try #require(parts.admitter.large.waiting.first)
      #expect(try await parts.store.jobs.record(app: "shop", id: "big") == nil)
      try await parts.admitter.admitLarge(entry)
      #expect(try await parts.record("big").total == 4_000)
    }
  }
}
