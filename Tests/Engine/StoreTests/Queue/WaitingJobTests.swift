import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// Jobs that operators stop before a worker has taken them in.
@Suite struct WaitingJobTests {
  /// What becomes of a job at its admission depends on where its users are.
  enum Audience: CaseIterable, Sendable {
    case oneSegment, segments, key
  }

  private static func text(_ id: String?, _ audience: Audience, body: String = "x") -> String {
    let id = id.map { "\"id\": \"\($0)\", " } ?? ""
    let users =
      switch audience {
      case .oneSegment: #"{"users": ["a", "b"]}"#
      case .segments: #"{"users": ["a", "b", "c", "d", "e"]}"#
      case .key: #"{"users_key": "crowd"}"#
      }
    return #"{\#(id)"app": "shop", "audience": \#(users), "notification": {"body": "\#(body)"}}"#
  }

  private static func total(_ audience: Audience) -> Int {
    switch audience {
    case .oneSegment: 2
    case .segments: 5
    case .key: 3
    }
  }

  @Test(arguments: Audience.allCases)
  func
    `a job that is cancelled before a worker takes it in sends nothing and counts all as skipped`(
      audience: Audience
    ) async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, ["a", "b", "c"])
      try await store.enqueue(Self.text("j", audience))
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == nil)
      let job = try #require(try await store.findWaiting("j"))
      #expect(try await store.jobs.waiting.name(job) == .new)
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      let waiting = try await store.record("j")
      #expect(waiting.state == .cancelled && !waiting.isAdmitted)
      #expect(try await store.jobs.resume(app: "shop", id: "j") == .cancelled)

      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.chunks.claim(consumer: "w", max: 5) == [])
      let record = try await store.record("j")
      #expect(record.state == .cancelled && record.isAdmitted && record.isBalanced)
      #expect(record.total == Self.total(audience) && record.counts.skipped == record.total)
      #expect(record.finishedAtMs != nil)
      let finished = try await store.redis("XRANGE", store.keys.finished, "-", "+").array ?? []
      #expect(finished.count == 1)
      let fields = Dictionary(
        try #require(finished.first?.array?.last).pairs, uniquingKeysWith: { $1 })
      #expect(fields["state"] == "cancelled" && fields["id"] == "j")
      #expect(fields["skipped"] == "\(record.total)" && fields["pending"] == "0")
      #expect(try await store.redis("SCARD", store.keys.open) == .integer(0))
      #expect(try await store.allKeys().filter { $0.contains(":segment:") } == [])
      #expect(try await store.backlog.status().jobs[.normal] == 0)
    }
  }

  @Test(arguments: Audience.allCases)
  func `a job that is paused before a worker takes it in rests until it is resumed`(
    audience: Audience
  ) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, ["a", "b", "c"])
      try await store.enqueue(Self.text("j", audience))
      let job = try #require(try await store.findWaiting("j"))
      #expect(try await store.jobs.waiting.name(job) == .new)
      #expect(try await store.jobs.pause(app: "shop", id: "j") == .paused)
      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.chunks.claim(consumer: "w", max: 5) == [])
      let record = try await store.record("j")
      #expect(record.state == .paused && record.finishedAtMs == nil)
      #expect(record.pending == Self.total(audience) && record.isBalanced)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j") == .sound)

      #expect(try await store.jobs.resume(app: "shop", id: "j") == .running)
      #expect(try await store.finish("j").count == Self.total(audience))
      let end = try await store.record("j")
      #expect(end.state == .done && end.counts.accepted == end.total)
    }
  }

  @Test func `a job that is paused and resumed while it waits is sent as any other`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueue(Self.text("j", .segments))
      let job = try #require(try await store.findWaiting("j"))
      #expect(try await store.jobs.waiting.name(job) == .new)
      #expect(try await store.jobs.waiting.name(job) == .new, "a repetition after a lost reply")
      #expect(try await store.jobs.pause(app: "shop", id: "j") == .paused)
      #expect(try await store.jobs.waiting.name(job) == .new)
      #expect(try await store.record("j").state == .paused)
      #expect(try await store.jobs.resume(app: "shop", id: "j") == .queued)
      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.finish("j") == ["a", "b", "c", "d", "e"])
    }
  }

  @Test func `a job that a worker is just taking in is stopped as well`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueue(Self.text("j", .segments))
      let answer = try await store.takeIn {
        let job = try #require(try await store.findWaiting("j"))
        #expect(try await store.jobs.waiting.name(job) == .new)
        #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      }
      #expect(answer == .admitted)
      #expect(try await store.record("j").counts.skipped == 5)
    }
  }

  @Test func `behind a cancelled job the same one is a duplicate, another of its id a conflict`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.enqueue(Self.text("j", .oneSegment))
      try await store.enqueue(Self.text("j", .oneSegment), priority: .high)
      try await store.enqueue(Self.text("j", .oneSegment, body: "y"), priority: .high)
      // As an operator would whose search was faster than the later ones.
      let first = try #require(try await store.waiting("j", .normal))
      #expect(try await store.jobs.waiting.name(first) == .new)
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      let others = try #require(try await store.findWaiting("j"))
      #expect(others.priority == .high)
      #expect(try await store.jobs.waiting.name(others) == .duplicate)

      #expect(try await store.takeIn() == .duplicate)
      #expect(try await store.takeIn() == .conflict)
      #expect(try await store.record("j").state == .cancelled, "a conflict takes no name away")
      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.record("j").counts.skipped == 2)
      #expect(try await store.chunks.claim(consumer: "w", max: 5) == [])
      #expect(try await store.backlog.status().jobs == [.high: 0, .normal: 0, .low: 0])
    }
  }

  @Test func `a job that was admitted or refused meanwhile gets no name`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueue(Self.text("j", .oneSegment))
      let job = try #require(try await store.findWaiting("j"))
      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.jobs.waiting.name(job) == .gone)
      let record = try await store.record("j")
      #expect(record.state == .running && record.isAdmitted)
      #expect(try await store.findWaiting("j") == nil)

      try await store.enqueue(Self.text("k", .oneSegment))
      let refused = try #require(try await store.findWaiting("k"))
      #expect(try await store.jobs.waiting.name(refused) == .new)
      #expect(try await store.jobs.cancel(app: "shop", id: "k") == .cancelled)
      let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
      _ = try await store.jobs.refuse(
        entry, Refusal(reason: "unknown_app", message: "No", app: "shop", id: "k"), consumer: "w")
      #expect(try await store.record("k").state == .refused)
      #expect(try await store.jobs.waiting.name(refused) == .gone)
      #expect(try await store.record("k").state == .refused)
    }
  }

  @Test(arguments: Audience.allCases)
  func `what a job was told that is gone does not hold for the next of its id`(
    audience: Audience
  ) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, ["a", "b", "c"])
      for isPaused in [true, false] {
        let gone = try await store.enqueue(Self.text("j", audience))
        let job = try #require(try await store.findWaiting("j"))
        #expect(try await store.jobs.waiting.name(job) == .new)
        _ =
          isPaused
          ? try await store.jobs.pause(app: "shop", id: "j")
          : try await store.jobs.cancel(app: "shop", id: "j")
        _ = try await store.redis("XDEL", store.keys.jobs(.normal), gone)
      }
      try await store.enqueue(Self.text("j", audience))
      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.record("j").state == .running)
    }
  }

  @Test func `a job without an id is found by the one that was made of its entry`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.enqueue(Self.text(nil, .oneSegment), priority: .low)
      let found = try await store.jobs.waiting.job(app: "shop", givenID: "l\(entry)")
      let job = try #require(found)
      #expect(job.id == "l\(entry)" && job.recipients == 2 && job.fault == nil)
      for id in [
        "n\(entry)", "x\(entry)", "l\(entry)-0", "l", "l-", "l\(entry)0", "l0\(entry)",
        "l+\(entry)", "lz-0",
      ] {
        #expect(try await store.jobs.waiting.job(app: "shop", givenID: id)?.id == nil, "\(id)")
      }
      #expect(try await store.jobs.waiting.job(app: "other", givenID: "l\(entry)")?.id == nil)
      #expect(try await store.jobs.waiting.name(job) == .new)
      #expect(try await store.jobs.cancel(app: "shop", id: "l\(entry)") == .cancelled)
      #expect(try await store.takeIn() == .admitted)
      #expect(try await store.record("l\(entry)").counts.skipped == 2)
    }
  }

  @Test func `a search finds a job however it is written and whatever stands around it`()
    async throws
  {
    try await Lane.withStore { _, store in
      let start = #"{"app": "shop", "audience": {"users": ["u"]}, "notification": {"body": "#
      _ = try await store.redis("XADD", store.keys.jobs(.normal), "*", "jbo", "sale")
      _ = try await store.redis("XADD", store.keys.jobs(.normal), "*", "job", "\"sale/1\" \\")
      try await store.enqueue(#"{"id": "sale/1", "app": "other", "audience": {"users": ["u"]}}"#)
      try await store.enqueue(start + #""sale/1"}, "id": "not"}"#)
      try await store.enqueueMany(2_000, app: "shop")
      let texts = [
        start + #""b"}, "id": "sale/1"}"#, start + #""b"}, "id" : "sale\/1"}"#,
        start + #""b"}, "id":"\u0073ale\u002f1"}"#,
        start + "\"\(String(repeating: "b", count: 100_000))\"}, \"id\": \"sale/1\"}",
      ]
      for text in texts {
        let entry = try await store.enqueue(text)
        #expect(try await store.findWaiting("sale/1")?.entry == entry)
        _ = try await store.redis("XDEL", store.keys.jobs(.normal), entry)
      }
      _ = try await store.redis(
        "XADD", store.keys.jobs(.low), "*", "by", "me", "job", texts[0])
      #expect(try await store.findWaiting("sale/1")?.priority == .low)
      #expect(try await store.findWaiting("sale/2") == nil)
    }
  }

  @Test func `a page of a search is short where jobs are large, and passes over what is no job`()
    async throws
  {
    try await Lane.withStore { _, store in
      let large = [UInt8](repeating: 120, count: 300 * 1_024)
      func search() async throws -> (pages: [Int], entries: [String]) {
        var (pages, entries, after): ([Int], [String], String?) = ([], [], nil)
        repeat {
          let page = try await store.jobs.waiting.search(id: "j", priority: .normal, after: after)
          pages.append(page.looked)
          entries += page.entries
          after = page.next
        } while after != nil
        return (pages, entries)
      }
      var added: [String] = []
      for _ in 0..<3 { added.append(try await store.jobs.enqueue(large, priority: .normal)) }
      // A function does not look into them.
      let few = try await search()
      #expect(few.pages.prefix(3) == [1, 1, 1] && few.entries == added)
      for _ in 3..<12 { _ = try await store.jobs.enqueue(large, priority: .normal) }
      let huge = [UInt8](repeating: 120, count: Limits.jobBytesMax + 1)
      _ = try await store.jobs.enqueue(huge, priority: .normal)
      let many = try await search()
      #expect(many.pages.reduce(0, +) == 13 && many.pages.allSatisfy { $0 <= 4 })
      #expect(many.entries == [])
    }
  }

  @Test func `a job that breaks a rule is found with the rule that it breaks`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueue(
        #"{"id": "bad", "app": "shop", "audience": {"users": ["u"]}, "x": 1}"#)
      let bad = try #require(try await store.findWaiting("bad"))
      #expect(bad.fault?.pointer == "/x")
      let entry = try await store.enqueue("{")
      let broken = try await store.jobs.waiting.job(app: "shop", givenID: "n\(entry)")
      #expect(broken?.fault != nil && broken?.app == "")
    }
  }

  @Test func `a job can be stopped while it waits though Redis is full`() async throws {
    try await Lane.withStore { _, store in
      try await store.enqueue(Self.text("j", .oneSegment))
      let job = try #require(try await store.findWaiting("j"))
      _ = try await store.redis("CONFIG", "SET", "maxmemory", "1mb")
      #expect(await failure { try await store.enqueue("{}") } != nil)
      #expect(try await store.findWaiting("j") != nil)
      #expect(try await store.jobs.waiting.name(job) == .new)
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
    }
  }
}

extension ShardStore {
  @discardableResult
  fileprivate func enqueue(
    _ text: String, priority: Priority = .normal
  ) async throws(RedisError) -> String {
    try await jobs.enqueue(Array(text.utf8), priority: priority)
  }

  /// As the command searches.
  fileprivate func findWaiting(_ id: String) async throws -> WaitingJob? {
    for priority in Priority.allCases {
      if let job = try await waiting(id, priority) { return job }
    }
    return nil
  }

  fileprivate func waiting(_ id: String, _ priority: Priority) async throws -> WaitingJob? {
    var after: String?
    repeat {
      let page = try await jobs.waiting.search(id: id, priority: priority, after: after)
      for entry in page.entries {
        let job = try await jobs.waiting.job(app: "shop", id: id, priority: priority, entry: entry)
        if let job { return job }
      }
      after = page.next
    } while after != nil
    return nil
  }

  /// Takes the next job in as a worker does, with two users in a segment.
  /// - Parameter meanwhile: what happens while its segments are uploaded.
  fileprivate func takeIn(
    meanwhile: () async throws -> Void = {}
  ) async throws -> AdmissionAnswer {
    let taken = try await jobs.take(consumer: "w", max: 1)
    let entry = try #require(taken.first)
    let job = try Job(bytes: entry.text)
    let id = job.id ?? entry.source
    var admission = Admission(
      app: job.app, id: id, digest: ContentDigest.of(job), content: job.content.canonicalBytes(),
      audience: Admission.Audience(lines: .users, recipients: job.audience.count ?? 0, segments: 0))
    switch job.audience {
    case .users(let users):
      let segments = stride(from: 0, to: users.count, by: 2).map { first in
        Array(users[first..<min(first + 2, users.count)].map { $0 + "\n" }.joined().utf8)
      }
      admission.audience.segments = segments.count
      if segments.count == 1 {
        admission.audience.texts = [segments[0]]
      } else {
        let answer = try await jobs.reserve(
          entry, app: job.app, id: id, digest: admission.digest, consumer: "w")
        guard answer == .new || answer == .cancelled else { return answer }
        if answer == .new {
          #expect(try await jobs.upload(segments, first: 1, of: entry, consumer: "w"))
        }
      }
    case .usersKey(let key): admission.audience.usersKey = key
    case .installations, .topic, .channel, .all: break
    }
    try await meanwhile()
    let answer = try await jobs.admit(entry, admission, consumer: "w")
    if answer == .conflict {
      try await jobs.refuse(
        entry, Refusal(reason: "id_conflict", message: "No", app: job.app, id: id), consumer: "w")
    }
    return answer
  }
}
