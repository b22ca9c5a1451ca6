import Model
import Operations
import Reactor
import Redis
import Store
import Testing

/// What is concluded from a job's record, its trace and what is installed.
@Suite struct TracedJobTests {
  private static let endedMs: Int64 = 1_790_000_100_000

  /// A job of three pushes that were accepted, which ended.
  private static let done: [(String, String)] = [
    ("state", "done"), ("admitted", "1"), ("total", "3"), ("accepted", "3"), ("pending", "0"),
    ("created_at", "1790000000000"), ("finished_at", "\(endedMs)"),
  ]

  @Test func `attempts and answers of two shards are one trace in the order of time`()
    async throws
  {
    try await Shards.withStores { _, stores in
      try await stores[1].write(Self.done)
      try await stores[0].append(atMs: 200, token: "aabbccdd", attempt: 2, decision: .accepted)
      try await stores[1].append(atMs: 100, token: "aabbccdd", attempt: 1, decision: .retry)
      let job = try #require(try await Self.find(.init(token: "aabbccdd"), in: stores))
      #expect(job.reading.events.map(\.attempt) == [1, 2] && job.reading.matched == 2)
      let conclusion = try #require(job.conclusions().first)
      #expect(conclusion.code == .accepted && conclusion.token == "aabbccdd")
      guard case .decided(let event, _) = conclusion.grounds else {
        Issue.record("\(conclusion.grounds)")
        return
      }
      #expect(event.atMs == 200 && event.attempt == 2)
    }
  }

  @Test func `of a job that ended without its content nothing but the usual is known to be said`()
    async throws
  {
    try await Shards.withStores { _, stores in
      try await stores[0].write(Self.done)
      try await stores[0].install("u", "aabbccdd")
      #expect(try await Self.codes(.init(token: "aabbccdd"), in: stores) == [.acceptedIfMeant])
      let job = try #require(try await Self.find(.init(token: "aabbccdd"), in: stores))
      #expect(job.content == JobContent())
      var activity = Installation(
        app: "shop", user: "u", token: DeviceToken(stored: "eeffeeff", network: .apns))
      activity.createdAtMs = 1_780_000_000_000
      activity.kind = .liveActivity
      _ = try await stores[0].installations.install(activity)
      #expect(try await Self.codes(.init(token: "eeffeeff"), in: stores) == [.notSent])
    }
  }

  @Test func `what is open is waiting until its job has ended, then unfinished`() async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].append(atMs: 100, token: "aabbccdd", attempt: 1, decision: .retry)
      try await stores[0].write([("state", "running"), ("pending", "1")])
      #expect(try await Self.codes(.init(token: "aabbccdd"), in: stores) == [.waiting])
      try await stores[0].write(Self.done)
      #expect(try await Self.codes(.init(token: "aabbccdd"), in: stores) == [.unfinished])
    }
  }

  @Test func `what has no recorded end names the gaps that may hold its accept`() async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].write(Self.done)
      try await stores[0].append(atMs: 100, token: "aabbccdd", attempt: 1, decision: .retry)
      let without = "how it ended is not recorded, although the job is done"
      #expect(try await Self.text(.init(token: "aabbccdd"), in: stores)?.hasSuffix(without) == true)
      var omitted = TraceLine(atMs: 200, kind: .omitted)
      omitted.cause = .tooMany
      omitted.count = 70
      try await stores[1].append(omitted)
      let text = try await Self.text(.init(token: "aabbccdd"), in: stores)
      let gap = "70 events were only counted: a lane records only so many alike"
      #expect(
        text?.hasSuffix("\(without); \(gap); an accept may be among what is missing") == true,
        "\(text ?? "none")")
      #expect(try await Self.codes(.init(token: "aabbccdd"), in: stores) == [.unfinished])
    }
  }

  @Test(arguments: [done, [("state", "running"), ("admitted", "1"), ("pending", "1")]])
  func `what lanes and Redis record behind what they settle is waited for`(
    record: [(String, String)]
  ) async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].write(record)
      try await stores[0].append(atMs: 100, token: "aabbccdd", attempt: 1, decision: .deferred)
      let last = ShardStore.answer(atMs: 200, token: "aabbccdd", attempt: 1, decision: .skipped)
      let store = stores[0]
      let timer = LoopTimer(loop: store.connection.loop) {
        store.traces.append(app: "shop", job: "j", by: "w-0", lines: last, count: 1) { _ in }
      }
      timer.schedule(afterMs: 100)
      let job = try await Self.find(
        .init(token: "aabbccdd"), nowMs: Self.endedMs + 1, in: stores)
      #expect(job?.conclusions().map(\.code) == [.skipped])
    }
  }

  @Test func `no record of a token means an accept when nothing else is possible`() async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].write(Self.done)
      try await stores[1].install("u1", "aabbccdd")
      let user = try TraceSubject(user: "u1")
      let job = try #require(try await Self.find(user, in: stores))
      #expect(job.conclusions().map(\.code) == [.acceptedIfMeant])
      #expect(job.conclusions().map(\.grounds) == [.plainAccept])
      #expect(job.reading.isComplete && !job.isOld && job.unexplained == 0)
      // Who has no installation now may have had none then.
      let other = try #require(try await Self.find(.init(user: "u2"), in: stores))
      #expect(other.conclusions().map(\.code) == [.noRecord])
      #expect(other.conclusions().map(\.isInstalled) == [false])
      // A job that records everything would have recorded it.
      try await stores[0].write(content: #""trace": true"#)
      #expect(try await Self.codes(user, in: stores) == [.notSent])
      try await stores[0].write(content: #""environments": ["development"]"#)
      let excluded = try #require(try await Self.find(user, in: stores))
      #expect(excluded.conclusions().map(\.grounds) == [.otherEnvironment(.production)])
    }
  }

  @Test func `each doubt about a missing record is told`() async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].write([
        ("state", "running"), ("total", "9"), ("pending", "4"), ("failed", "3"),
      ])
      try await stores[0].install("u1", "aabbccdd")
      _ = try await stores[1].switches.switchOff(.app("shop"), reason: "")
      var omitted = TraceLine(atMs: 5, kind: .omitted)
      omitted.cause = .tooMany
      omitted.count = 70
      try await stores[1].append(omitted)
      let job = try #require(try await Self.find(.init(user: "u1"), in: stores))
      #expect(
        job.conclusions().map(\.grounds) == [
          .doubts([
            .unfinished(.running, pending: 4), .switchedOff(.app("shop")),
            .gap(TraceGap(reason: .omitted, count: 70)), .unexplained(3),
          ])
        ])
      #expect(job.conclusions().map(\.code) == [.noRecord])
    }
  }

  @Test func `the trace of a job that ended long ago is old`() async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].write(Self.done)
      try await stores[0].install("u1", "aabbccdd")
      let later = Self.endedMs + OperationsLimits.traceLifeMs
      let user = try TraceSubject(user: "u1")
      #expect(try await Self.find(user, nowMs: later, in: stores)?.isOld == false)
      let old = try #require(try await Self.find(user, nowMs: later + 1, in: stores))
      #expect(old.isOld && old.conclusions().map(\.grounds) == [.doubts([.old])])
    }
  }

  @Test func `a job without a record has no trace`() async throws {
    try await Shards.withStores { _, stores in
      let found = try await Self.find(.everybody, in: stores)
      #expect(found == nil)
    }
  }

  @Test func `a name or token that cannot be is refused by its rule`() throws {
    #expect(throws: InvalidField.self) { try TraceSubject(user: "") }
    #expect(throws: InvalidField.self) { try TraceSubject(token: "a\u{0}b") }
  }

  private static func find(
    _ subject: TraceSubject, nowMs: Int64 = endedMs + 1_000, in stores: [ShardStore]
  ) async throws -> TracedJob? {
    try await TracedJob.find(subject, app: "shop", job: "j", nowMs: nowMs, in: stores)
  }

  private static func text(
    _ subject: TraceSubject, in stores: [ShardStore]
  ) async throws -> String? {
    try await find(subject, in: stores).flatMap { job in
      job.conclusions().first?.text(of: job)
    }
  }

  private static func codes(
    _ subject: TraceSubject, in stores: [ShardStore]
  ) async throws -> [TraceConclusion.Code]? {
    try await find(subject, in: stores)?.conclusions().map(\.code)
  }
}

extension ShardStore {
  /// Replaces the record of job j.
  fileprivate func write(_ fields: [(String, String)]) async throws {
    let key = keys.job(app: "shop", id: "j")
    _ = try await connection.call(RedisCommand("DEL", key))
    var command = RedisCommand("HSET", key)
    for (name, value) in fields {
      command.append(name)
      command.append(value)
    }
    _ = try await connection.call(command)
  }

  /// Replaces the content of job j.
  fileprivate func write(content more: String) async throws {
    let content = #"{"notification": {"body": "x"}, \#(more)}"#
    _ = try await connection.call(
      RedisCommand("SET", keys.content(app: "shop", id: "j"), content))
  }

  fileprivate func install(_ user: String, _ token: String) async throws {
    var installation = Installation(
      app: "shop", user: user, token: DeviceToken(stored: token, network: .apns))
    installation.createdAtMs = 1_780_000_000_000
    _ = try await installations.install(installation)
  }

  /// Records an answer of APNs.
  fileprivate func append(
    atMs: Int64, token: String, attempt: Int, decision: TraceDecision
  ) async throws {
    try await append(
      Self.answer(atMs: atMs, token: token, attempt: attempt, decision: decision))
  }

  /// An answer of APNs as it is recorded.
  fileprivate static func answer(
    atMs: Int64, token: String, attempt: Int, decision: TraceDecision
  ) -> [UInt8] {
    var line = TraceLine(atMs: atMs, kind: .answered)
    line.network = .apns
    line.attempt = attempt
    line.decision = decision
    var token = token
    return token.withUTF8 { token in
      line.token = UnsafeRawBufferPointer(token)
      var bytes: [UInt8] = []
      line.append(to: &bytes)
      return bytes
    }
  }

  fileprivate func append(_ line: TraceLine) async throws {
    var bytes: [UInt8] = []
    line.append(to: &bytes)
    try await append(bytes)
  }

  private func append(_ bytes: [UInt8]) async throws {
    let result: Result<Void, RedisError> = await withUnsafeContinuation { continuation in
      traces.append(app: "shop", job: "j", by: "w-0", lines: bytes, count: 1) {
        continuation.resume(returning: $0)
      }
    }
    try result.get()
  }
}
