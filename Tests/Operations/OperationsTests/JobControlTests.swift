import LocalServices
import Model
import Operations
import Redis
import Store
import TestSupport
import Testing

/// What operators do with a job, taken in or still waiting, in whichever shard it is.
@Suite struct JobControlTests {
  private static let nowMs: Int64 = 4_000_000_000_000

  @Test func `a job that waits in the second shard is found, cancelled and stays there`()
    async throws
  {
    try await Shards.withStores { _, stores in
      try await stores[1].enqueue(#"{"id": "j", \#(Self.rest)}"#)
      let control = JobControl(app: "shop", id: "j", stores: stores)
      #expect(try await control.recorded() == nil)
      let shown = try await Self.perform(control, .show)
      #expect(shown.state == .queued && !shown.isAdmitted && shown.total == 2)
      #expect(try await control.recorded() == nil)
      let cancelled = try await Self.perform(control, .cancel)
      #expect(cancelled.state == .cancelled && !JobAction.cancel.wasTooLate(cancelled.state))
      #expect(JobAction.pause.wasTooLate(cancelled.state))
      #expect(try await stores[1].jobs.record(app: "shop", id: "j")?.state == .cancelled)
      #expect(try await stores[0].jobs.record(app: "shop", id: "j") == nil)
      #expect(try await control.recorded()?.state == .cancelled)
    }
  }

  @Test func `a search that is told to stop stops, and changes nothing`() async throws {
    try await Shards.withStores { _, stores in
      // So large that each is a step of the search.
      for _ in 0..<3 { try await stores[0].enqueue(String(repeating: "x", count: 300 * 1_024)) }
      try await stores[1].enqueue(#"{"id": "j", \#(Self.rest)}"#)
      let control = JobControl(app: "shop", id: "j", stores: stores)
      var reports: [Int] = []
      await #expect(throws: OperationError.notFoundYet(job: "j")) {
        try await control.perform(
          .cancel, nowMs: Self.nowMs, patience: Patience { reports.count < 3 }
        ) { reports.append($0) }
      }
      #expect(reports == [0, 1, 2])
      #expect(try await control.recorded() == nil)
      #expect(try await Self.perform(control, .cancel).state == .cancelled)
    }
  }

  @Test("a job that waits for its start is told another one, and others are left as they are")
  func reschedules() async throws {
    try await Shards.withStores { _, stores in
      let hourMs: Int64 = 3_600_000
      let time = try await stores[1].connection.call(RedisCommand("TIME")).array ?? []
      let nowMs = Int64(try #require(time.first?.integer)) * 1_000
      func admit(_ id: String, startAtMs: Int64?) async throws {
        try await stores[1].enqueue("{}")
        let entry = try #require(try await stores[1].jobs.take(consumer: "w", max: 1).first)
        let admission = Admission(
          app: "shop", id: id, digest: "d",
          content: Array(#"{"expires_at":\#(nowMs + 10 * hourMs)}"#.utf8),
          audience: Admission.Audience(
            lines: .users, recipients: 1, segments: 1, texts: [Array("a\n".utf8)]),
          timing: Admission.Timing(startAtMs: startAtMs))
        #expect(try await stores[1].jobs.admit(entry, admission, consumer: "w") == .admitted)
      }
      func refusal(_ id: String, _ atMs: Int64?) async throws -> RescheduleRefusal? {
        do {
          _ = try await Self.perform(
            JobControl(app: "shop", id: id, stores: stores), .reschedule(atMs: atMs))
          return nil
        } catch OperationError.unmovedJob(let job, let refusal) {
          #expect(job == id && !refusal.reason.isEmpty)
          return refusal
        }
      }
      try await admit("j", startAtMs: nowMs + hourMs)
      let control = JobControl(app: "shop", id: "j", stores: stores)
      let moved = try await Self.perform(control, .reschedule(atMs: nowMs + 2 * hourMs))
      #expect(moved.state == .scheduled && moved.startAtMs == nowMs + 2 * hourMs)
      #expect(moved.shard == stores[1].id)
      #expect(try await refusal("j", nowMs + 10 * hourMs) == .expired)
      #expect(try await refusal("j", nowMs + 400 * 24 * hourMs) == .far)
      #expect(try await control.recorded()?.startAtMs == nowMs + 2 * hourMs)
      try await admit("runs", startAtMs: nil)
      #expect(try await refusal("runs", nil) == .started)
      try await stores[0].enqueue(#"{"id": "waits", \#(Self.rest)}"#)
      #expect(try await refusal("waits", nil) == .waiting)
      #expect(try await stores[0].jobs.record(app: "shop", id: "waits") == nil)
      _ = try await Self.perform(control, .cancel)
      #expect(try await refusal("j", nil) == .ended)
      // One that was moved and is done by then was moved.
      #expect(!JobAction.reschedule(atMs: nil).wasTooLate(.done))
    }
  }

  @Test func `a job that nobody has is unknown, one that breaks a rule is doomed`() async throws {
    try await Shards.withStores { _, stores in
      await #expect(throws: OperationError.unknownJob(app: "shop", job: "j")) {
        _ = try await Self.perform(JobControl(app: "shop", id: "j", stores: stores), .pause)
      }
      try await stores[1].enqueue(#"{"id": "bad", "extra": 1, \#(Self.rest)}"#)
      do {
        _ = try await Self.perform(JobControl(app: "shop", id: "bad", stores: stores), .pause)
        Issue.record("a job that will be refused was paused")
      } catch OperationError.doomedJob(let id, let fault) {
        #expect(id == "bad" && fault.pointer == "/extra")
      }
    }
  }

  @Test func `a corrected job that waits is stopped, though the refused one has a record`()
    async throws
  {
    try await Shards.withStores { _, stores in
      try await stores[1].enqueue(#"{"id": "j", \#(Self.rest)}"#)
      let entry = try #require(try await stores[1].jobs.take(consumer: "w", max: 1).first)
      let refusal = Refusal(reason: "unknown_app", message: "no", app: "shop", id: "j")
      try await stores[1].jobs.refuse(entry, refusal, consumer: "w")
      let control = JobControl(app: "shop", id: "j", stores: stores)
      let refused = try await Self.perform(control, .pause)
      #expect(refused.state == .refused && JobAction.pause.wasTooLate(.refused))
      #expect(JobAction.cancel.wasTooLate(.refused))
      #expect(try await control.recorded()?.refusal?.reason == "unknown_app")
      try await stores[1].enqueue(#"{"id": "j", \#(Self.rest)}"#)
      #expect(try await Self.perform(control, .show).state == .refused)
      #expect(try await Self.perform(control, .resume).state == .queued)
      #expect(try await Self.perform(control, .pause).state == .paused)
      #expect(try await control.recorded()?.refusal == nil)
    }
  }

  @Test
  func `a job that is named after its entry is no other shard's job of an equal entry`()
    async throws
  {
    try await Shards.withStores { _, stores in
      // Beside one that cannot be read, which could be anybody's, and beside one of another app.
      try await stores[0].add("{", at: "5-0")
      try await stores[1].add("{\(Self.rest)}", at: "5-0")
      try await stores[0].add("{\(Self.rest)}", at: "6-0")
      try await stores[1].add(#"{"app": "news", "audience": {"users": ["a"]}}"#, at: "6-0")
      for (entry, store) in [("5-0", stores[1]), ("6-0", stores[0])] {
        let control = JobControl(app: "shop", id: "n\(entry)", stores: stores)
        let shown = try await Self.perform(control, .show)
        #expect(shown.state == .queued && shown.total == 2 && shown.shard == store.id)
      }
      // Where it is the only one, it is the one that was meant.
      try await stores[0].add("{", at: "7-0")
      do {
        _ = try await Self.perform(JobControl(app: "shop", id: "n7-0", stores: stores), .pause)
        Issue.record("a job that will be refused was paused")
      } catch OperationError.doomedJob(let id, _) {
        #expect(id == "n7-0")
      }
    }
  }

  @Test func `a store that is away ends the work as the caller's patience says`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint, library: StoreLibrary.library)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      await server.close()
      let job = EnqueuedJob(
        app: "shop", id: "j", priority: .low, entry: "1-0", shard: store.id, text: [])
      let watch = JobWatch(job: job, stores: [store])
      var asked = 0
      let stopping = Patience(attemptsMax: 9, retryMs: 1, reconnectTimeoutMs: 60_000) {
        asked += 1
        return asked < 3
      }
      await #expect(throws: OperationError.stopped) { _ = try await watch.look(stopping) }
      #expect(asked == 3)
      let short = Patience(attemptsMax: 9, retryMs: 1, reconnectTimeoutMs: 1)
      for patience in [Patience(), short] {
        do {
          _ = try await watch.look(patience)
          Issue.record("a store answered that is away")
        } catch OperationError.redis {}
      }
    }
  }

  private static let rest = """
    "app": "shop", "audience": {"users": ["a", "b"]}, "notification": {"body": "x"}
    """

  private static func perform(
    _ control: JobControl, _ action: JobAction
  ) async throws(OperationError) -> JobRecord {
    try await control.perform(action, nowMs: nowMs, patience: Patience()) { _ in }
  }
}

extension ShardStore {
  fileprivate func enqueue(_ text: String) async throws {
    _ = try await jobs.enqueue(Array(text.utf8), priority: .normal)
  }

  /// Adds a job with an entry of its producer's.
  fileprivate func add(_ text: String, at entry: String) async throws(RedisError) {
    _ = try await connection.call(
      RedisCommand("XADD", keys.jobs(.normal), entry, "job", text))
  }
}
