import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// The function that any client submits jobs with.
@Suite struct SubmissionTests {
  private static func withStore(
    _ body: @Sendable (isolated TestLane, ShardStore) async throws -> Void
  ) async throws {
    try await Lane.withStore { lane, store in
      try await store.registration.provide()
      try await body(lane, store)
    }
  }

  private static func text(_ id: String? = "j", title: String = "Hi") -> String {
    let name = id.map { "\"id\":\"\($0)\"," } ?? ""
    return "{\(name)\"app\":\"shop\",\"audience\":{\"users\":[\"a\"]},"
      + "\"notification\":{\"title\":\"\(title)\"}}"
  }

  private static func digest(_ text: String) throws -> String {
    ContentDigest.of(try Job(bytes: Array(text.utf8)))
  }

  private func submit(
    _ store: ShardStore, _ text: String, priority: Priority = .normal, digest: String? = nil
  ) async throws -> SubmissionAnswer {
    let answer = try await store.jobs.submit(
      Array(text.utf8), priority: priority, digest: digest)
    return try #require(answer)
  }

  private func refusal(_ store: ShardStore, _ arguments: String...) async -> String? {
    do {
      _ = try await store.redis(["FCALL", "pushpool_submit", "1", store.keys.prefix] + arguments)
      return nil
    } catch RedisError.server("INVALID", let message) {
      return message
    } catch {
      return "another error: \(error)"
    }
  }

  private static let oneUser = Admission.Audience(
    lines: .users, recipients: 1, segments: 1, texts: [Array("a\n".utf8)])

  /// Takes the job in by the canonical digest, as a worker does.
  private func takeIn(_ store: ShardStore) async throws -> AdmissionAnswer {
    let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
    let job = try Job(bytes: entry.text)
    let admission = Admission(
      app: job.app, id: job.id ?? entry.source, digest: ContentDigest.of(job),
      content: job.content.canonicalBytes(), audience: Self.oneUser)
    let answer = try await store.jobs.admit(entry, admission, consumer: "w")
    if answer == .conflict {
      try await store.jobs.refuse(
        entry, Refusal(reason: "id_conflict", message: "No", app: job.app, id: admission.id),
        consumer: "w")
    }
    return answer
  }

  @Test func `a job is added once, however often it is submitted, and other content is told of`()
    async throws
  {
    try await Self.withStore { _, store in
      let first = try await submit(store, Self.text())
      #expect(first.status == .created && first.id == "j")
      #expect(try await store.jobs.isQueued(first.entry, .normal))
      let record = try await store.record("j")
      #expect(record.state == .queued && record.priority == .normal && record.createdAtMs != nil)
      let ends = try await store.redis("TTL", store.keys.job(app: "shop", id: "j")).integer ?? 0
      #expect((86_000...86_400).contains(ends))
      func expectKnown() async throws {
        let again = try await submit(store, Self.text(), priority: .high)
        #expect(again == SubmissionAnswer(.replayed, id: "j", entry: first.entry))
        #expect(try await submit(store, Self.text(title: "Ho")).status == .conflict)
      }
      try await expectKnown()
      #expect(try await takeIn(store) == .admitted)
      try await expectKnown()
      _ = try await store.chunks.settle(
        try await store.claimOne("w"), .final(accepted: 1, users: 1), consumer: "w")
      #expect(try await store.record("j").state == .done)
      try await expectKnown()
      #expect(try await store.redis("XLEN", store.keys.jobs(.normal)).integer == 0)
      #expect(try await store.redis("XLEN", store.keys.jobs(.high)).integer == 0)
    }
  }

  @Test func `who knows the canonical digest is told of equal content in other words`()
    async throws
  {
    try await Self.withStore { _, store in
      let digest = try Self.digest(Self.text())
      let other = Self.text().replacing(",", with: ", ")
      #expect(try Self.digest(other) == digest)
      // One that came by XADD, and one that was submitted with its digest.
      _ = try await store.jobs.enqueue(Array(Self.text().utf8), priority: .normal)
      #expect(try await takeIn(store) == .admitted)
      #expect(try await submit(store, other, digest: digest).status == .replayed)
      #expect(try await submit(store, other).status == .conflict)
      _ = try await submit(
        store, Self.text("k"), digest: try Self.digest(Self.text("k")))
      let again = Self.text("k").replacing(",", with: ", ")
      #expect(try await submit(store, again, digest: try Self.digest(again)).status == .replayed)
      let changed = Self.text("k", title: "Ho")
      #expect(
        try await submit(store, changed, digest: try Self.digest(changed)).status == .conflict)
    }
  }

  @Test func `a large job is known by the name and digest that are given along`() async throws {
    try await Self.withStore { _, store in
      func large(_ title: String) async throws -> SubmissionAnswer? {
        let users = (0..<25_000).map { "\"user-\($0)\"" }.joined(separator: ",")
        let text =
          "{\"id\":\"j\",\"app\":\"shop\",\"audience\":{\"users\":[\(users)]},"
          + "\"notification\":{\"title\":\"\(title)\"}}"
        return try await store.jobs.submit(
          Array(text.utf8), priority: .normal, digest: try Self.digest(text), name: ("shop", "j"))
      }
      let first = try #require(try await large("first"))
      #expect(first.status == .created)
      let again = try #require(try await large("first"))
      #expect(again.status == .replayed && again.entry == first.entry)
      #expect(try await large("second")?.status == .conflict)
      #expect(try await store.backlog.status().jobs[.normal] == 1)
      // Without the name it is not read here.
      let text = Array(repeating: UInt8(ascii: " "), count: StoreLimits.submittedBytesMax + 1)
      #expect(try await store.jobs.submit(text, priority: .normal, digest: nil) == nil)
      #expect(
        await refusal(
          store, "normal", "{}", String(repeating: "a", count: 32), "a b", "j")
          != nil)
    }
  }

  @Test func `a worker takes a submitted job as its own, and one that is sent from its entry, too`()
    async throws
  {
    try await Self.withStore { _, store in
      _ = try await submit(store, Self.text())
      let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
      let admission = Admission(
        app: "shop", id: "j", digest: "d", content: [0x7b, 0x7d], audience: Self.oneUser)
      let job = DirectJob(entry: entry, admission: admission)
      #expect(try await store.jobs.direct.begin([job], consumer: "w") == [.success(.new)])
      let ending = DirectEnding(
        job: job, startedAtMs: 1, settlement: .final(accepted: 1, users: 1))
      #expect(try await store.jobs.direct.end([ending]) == [.ended])
      #expect(try await store.record("j").state == .done)
      #expect(try await submit(store, Self.text()).status == .replayed)
    }
  }

  @Test func `a submitted job that is stopped before a worker takes it stays stopped`() async throws
  {
    try await Self.withStore { _, store in
      _ = try await submit(store, Self.text())
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      #expect(try await submit(store, Self.text()).status == .replayed)
      #expect(try await takeIn(store) == .admitted)
      #expect(try await store.record("j").counts.skipped == 1)
    }
  }

  @Test(
    "cancelling a submitted job whose entry somebody deleted frees its name",
    arguments: [JobAct.none, .pause, .cancel])
  func frees(before: JobAct) async throws {
    try await Self.withStore { _, store in
      let first = try await submit(store, Self.text())
      // Another job keeps the stream from being empty, which would free the name by itself.
      _ = try await submit(store, Self.text("other"))
      switch before {
      case .none: break
      case .pause: #expect(try await store.jobs.pause(app: "shop", id: "j") == .paused)
      case .cancel: #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      }
      _ = try await store.redis("XDEL", store.keys.jobs(.normal), first.entry)
      #expect(try await submit(store, Self.text()).status == .replayed, "nobody knows yet")
      for _ in 0..<2 {
        #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      }
      let notices = try await store.redis("XRANGE", store.keys.finished, "-", "+").array ?? []
      #expect(notices.count == 1)
      let notice = Dictionary(
        try #require(notices.first?.array?.last).pairs, uniquingKeysWith: { $1 })
      #expect(notice["id"] == "j" && notice["state"] == "cancelled" && notice["total"] == "0")
      #expect(try await store.redis("TTL", store.keys.job(app: "shop", id: "j")).integer ?? -1 > 0)
      #expect(try await submit(store, Self.text(title: "Ho")).status == .created)
      let record = try await store.record("j")
      #expect(record.state == .queued && record.source != "")
      #expect(try await takeIn(store) == .admitted, "the other job")
      #expect(try await takeIn(store) == .admitted)
      #expect(try await store.record("j").state == .running)
    }
  }

  /// What an operator does before somebody deletes the entry.
  enum JobAct { case none, pause, cancel }

  @Test func `cancelling a job that a worker has in hand leaves it its name`() async throws {
    try await Self.withStore { _, store in
      let first = try await submit(store, Self.text())
      _ = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
      _ = try await store.redis("XDEL", store.keys.jobs(.normal), first.entry)
      _ = try await submit(store, Self.text("other"))
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      #expect(try await submit(store, Self.text(title: "Ho")).status == .conflict)
    }
  }

  @Test func `a job without an id is a new one each time, and has a record, too`() async throws {
    try await Self.withStore { _, store in
      let first = try await submit(store, Self.text(nil))
      let second = try await submit(store, Self.text(nil))
      #expect(first.status == .created && second.status == .created && first.id != second.id)
      #expect(first.id == JobSource.of(first.entry, .normal))
      #expect(try await store.record(first.id).state == .queued)
      #expect(try await takeIn(store) == .admitted)
      #expect(try await store.record(first.id).state == .running)
    }
  }

  @Test func `the name of a refused job and of a lost one is free, and nothing of them is left`()
    async throws
  {
    try await Self.withStore { _, store in
      _ = try await submit(store, Self.text())
      let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
      try await store.jobs.refuse(
        entry, Refusal(reason: "invalid_job", message: "No", app: "shop", id: "j"), consumer: "w")
      #expect(try await submit(store, Self.text()).status == .created)
      let key = store.keys.job(app: "shop", id: "j")
      #expect(try await store.redis("HGET", key, "reason").isNull)
      #expect(try await store.record("j").refusal == nil)
      _ = try await store.jobs.setPace(app: "shop", id: "j", perSecond: 1)
      _ = try await store.redis("DEL", store.keys.jobs(.normal))
      #expect(try await submit(store, Self.text(title: "Ho")).status == .created)
      #expect(try await store.record("j").pace == nil)
      #expect(try await takeIn(store) == .admitted)
    }
  }

  @Test func `what names no job is refused at once, and adds nothing`() async throws {
    try await Self.withStore { _, store in
      let long = String(repeating: "x", count: 129)
      for (arguments, phrase) in [
        (["normal", "no JSON"], "not valid JSON"), (["normal", "1"], "must be an object"),
        (["normal", "\u{FEFF}" + Self.text()], "a byte order mark stands before the text"),
        (["normal", "{\u{0}}\u{0}"], "the text is in UTF-16; write it in UTF-8"),
        (["normal", "[]"], "/app: is missing"), (["normal", "{}"], "/app: is missing"),
        (["normal", #"{"app":1}"#], "/app: must be"),
        (["normal", #"{"app":"a:b"}"#], "/app: must be"),
        (["normal", #"{"app":"shop","id":null}"#], "/id: must be"),
        (["normal", #"{"app":"shop","id":"a b"}"#], "/id: must be"),
        (["normal", #"{"app":"shop","id":"\#(long)"}"#], "/id: must be"),
        (["urgent", Self.text()], "high, normal or low"),
        (["", Self.text()], "high, normal or low"),
        (["normal", Self.text(), "DIGEST"], "32 hexadecimal digits"),
      ] {
        var words = ["FCALL", "pushpool_submit", "1", store.keys.prefix]
        words += arguments
        do {
          _ = try await store.redis(words)
          Issue.record("\(arguments) were taken")
        } catch RedisError.server("INVALID", let message) {
          #expect(message.contains(phrase), "\(arguments): \(message)")
        }
      }
      #expect(await refusal(store, "normal")?.contains("a priority and a job") == true)
      let large = Self.text(title: String(repeating: "x", count: 256 << 10))
      #expect(await refusal(store, "normal", large)?.contains("add it with XADD") == true)
      #expect(try await store.allKeys() == [])
      // The program adds by XADD what the function does not take.
      #expect(
        try await store.jobs.submit(Array(large.utf8), priority: .low, digest: nil) == nil)
      #expect(
        try await store.jobs.submit(Array("{}".utf8), priority: .low, digest: nil) == nil)
    }
  }

  @Test func `a text that only cjson can read is refused under the name that it was given`()
    async throws
  {
    try await Self.withStore { _, store in
      for ballast in [1, 20_000] {
        let text =
          "{\"app\":\"shop\",\"id\":\"j\",\"id\":\"j\(ballast)\",\"x\":\""
          + String(repeating: "x", count: ballast) + "\"}"
        let submission = try await submit(store, text)
        #expect(submission.status == .created)
        let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
        // As a worker refuses it that can read no name.
        try await store.jobs.refuse(
          entry, Refusal(reason: "invalid_job", message: "No"), consumer: "w")
        let record = try await store.record(submission.id)
        #expect(record.refusal?.reason == "invalid_job")
        #expect(try await store.deadLetters.list(max: 9).last?.id == submission.id)
      }
    }
  }

  @Test func `where the function is missing, or may not be called, nothing is submitted`()
    async throws
  {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      let text = Array(Self.text().utf8)
      #expect(try await store.jobs.submit(text, priority: .normal, digest: nil) == nil)
      try await store.registration.provide()
      for right in ["-hmget", "-fcall"] {
        _ = try await store.redis("ACL", "SETUSER", "default", right)
        #expect(try await store.jobs.submit(text, priority: .normal, digest: nil) == nil)
      }
      #expect(try await store.redis("EXISTS", store.keys.jobs(.normal)).integer == 0)
    }
  }

  @Test func `a caller that may write no record has added its job all the same`() async throws {
    try await Self.withStore { _, store in
      _ = try await store.redis("ACL", "SETUSER", "default", "-hset")
      #expect(try await submit(store, Self.text()).status == .created)
      #expect(try await store.redis("XLEN", store.keys.jobs(.normal)).integer == 1)
      #expect(try await store.jobs.record(app: "shop", id: "j") == nil)
    }
  }
}

extension SubmissionAnswer {
  fileprivate init(_ status: Status, id: String, entry: String) {
    let json = #"{"status":"\#(status.rawValue)","id":"\#(id)","entry":"\#(entry)"}"#
    self = SubmissionAnswer(Array(json.utf8))!
  }
}
