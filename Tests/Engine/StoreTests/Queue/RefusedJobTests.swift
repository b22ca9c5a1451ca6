import Model
import Redis
import Testing

@testable import Store

/// What is left of a job that is not admitted, for whoever waits for it.
@Suite struct RefusedJobTests {
  private static func refusal(
    _ id: String = "j", app: String = "shop", reason: String = "invalid_job"
  ) -> Refusal {
    Refusal(reason: reason, field: "/audience", message: "is missing", app: app, id: id)
  }

  private static func admission(_ id: String = "j", digest: String = "d") -> Admission {
    Admission(
      app: "shop", id: id, digest: digest, content: Array("{}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: 1, segments: 1, texts: [Array("a\n".utf8)]))
  }

  /// Enqueues a job and refuses it. - Returns: its entry.
  @discardableResult
  private func refuse(
    _ store: ShardStore, _ refusal: Refusal = Self.refusal(), text: String = "{}"
  ) async throws -> JobEntry {
    _ = try await store.jobs.enqueue(Array(text.utf8), priority: .normal)
    let entry = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
    #expect(try await store.jobs.refuse(entry, refusal, consumer: "worker"))
    return entry
  }

  private func fields(_ store: ShardStore, _ id: String = "j") async throws -> [String: String] {
    let reply = try await store.redis("HGETALL", store.keys.job(app: "shop", id: id))
    return Dictionary(reply.pairs, uniquingKeysWith: { $1 })
  }

  @Test func `a refused job has a record that says why, for as long as one that has ended`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      try await store.jobs.refuse(
        entry, Self.refusal(), consumer: "worker", retentionSeconds: 3_600)
      let letter = try #require(try await store.deadLetters.list(max: 9).first?.entry)
      let record = try await store.record("j")
      #expect(record.state == .refused && record.state.isFinal && record.isBalanced)
      #expect(
        record.refusal
          == JobRefusal(
            reason: "invalid_job", field: "/audience", message: "is missing", letter: letter))
      #expect(record.priority == .normal && record.finishedAtMs != nil && !record.isAdmitted)
      #expect(try await store.jobs.source(app: "shop", id: "j") == entry.source)
      let seconds = try await store.redis("TTL", store.keys.job(app: "shop", id: "j")).integer ?? 0
      #expect((3_500...3_600).contains(seconds))
      // An older version believes the next job of the name to be over, or to be this one, by these.
      let fields = try await fields(store)
      for name in ["finished_at", "digest", "admitted"] { #expect(fields[name] == nil) }
    }
  }

  @Test func `whoever reads of jobs that end reads of one that was refused`() async throws {
    try await Lane.withStore { _, store in
      try await refuse(store)
      let ended = try await store.jobs.ended(max: 9)
      #expect(ended.map(\.id) == ["j"] && ended.map(\.state) == [.refused])
      let refusal = try await store.record("j").refusal
      #expect(ended.first?.refusal == refusal)
      #expect(ended.first?.finishedAtMs != nil && ended.first?.isBalanced == true)
    }
  }

  @Test(arguments: ["begin_direct", "admit", "reserve", "name_waiting", "refuse"])
  func `the name of a refused job is free for a corrected one`(taking: String) async throws {
    try await Lane.withStore { _, store in
      try await refuse(store)
      let entry = try await store.takeNew()
      switch taking {
      case "begin_direct":
        let job = DirectJob(entry: entry, admission: Self.admission())
        #expect(try await store.jobs.direct.begin([job], consumer: "worker") == [.success(.new)])
      case "admit":
        let answer = try await store.jobs.admit(entry, Self.admission(), consumer: "worker")
        #expect(answer == .admitted)
      case "reserve":
        let answer = try await store.jobs.reserve(
          entry, app: "shop", id: "j", digest: "d", consumer: "worker")
        #expect(answer == .new)
      case "name_waiting":
        let answer = try await store.jobs.waiting.takeName(
          "shop", "j", digest: "d", priority: .normal, entry: entry.entry)
        #expect(answer == .new)
      default:
        try await store.jobs.refuse(
          entry, Self.refusal(reason: "unknown_app"), consumer: "worker")
        #expect(try await store.record("j").refusal?.reason == "unknown_app")
        return
      }
      let record = try await store.record("j")
      #expect(record.state == (taking == "admit" ? .running : .queued) && record.refusal == nil)
      let fields = try await fields(store)
      for name in ["reason", "field", "message", "letter", "refused_at"] {
        #expect(fields[name] == nil, "\(name) is left of the refused job")
      }
    }
  }

  @Test func `a corrected job that comes by the entry id of the refused one is a new one`()
    async throws
  {
    try await Lane.withStore { _, store in
      for digest in ["one", "two"] {
        _ = try await store.redis("DEL", store.keys.jobs(.normal))
        _ = try await store.redis("XADD", store.keys.jobs(.normal), "5-1", "job", "{}")
        let entry = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
        let job = DirectJob(entry: entry, admission: Self.admission(digest: digest))
        #expect(try await store.jobs.direct.begin([job], consumer: "worker") == [.success(.new)])
        #expect(try await store.record("j").state == .queued)
        if digest == "one" {
          try await store.jobs.refuse(entry, Self.refusal(), consumer: "worker")
        } else {
          let ending = DirectEnding(
            job: job, startedAtMs: 1, settlement: .final(accepted: 1, users: 1))
          #expect(try await store.jobs.direct.end([ending]) == [.ended])
        }
      }
      let record = try await store.record("j")
      #expect(record.state == .done && record.counts.accepted == 1 && record.refusal == nil)
    }
  }

  @Test(arguments: ["queued", "running", "done"])
  func `a refused job with the id of another leaves that one's record alone`(state: String)
    async throws
  {
    try await Lane.withStore { _, store in
      if state == "queued" {
        let entry = try await store.takeNew()
        let answer = try await store.jobs.reserve(
          entry, app: "shop", id: "j", digest: "d", consumer: "worker")
        #expect(answer == .new)
      } else {
        #expect(try await store.admit("j", users: [["a"]]) == .admitted)
        if state == "done" {
          _ = try await store.chunks.settle(
            try await store.claimOne(), .final(accepted: 1, users: 1), consumer: "worker")
        }
      }
      let before = try await fields(store)
      #expect(before["state"] == state)
      let told = try await store.redis("XLEN", store.keys.finished)
      try await refuse(store, Self.refusal(reason: "id_conflict"))
      #expect(try await fields(store) == before)
      #expect(try await store.redis("XLEN", store.keys.finished) == told)
      #expect(try await store.deadLetters.count() == 1)
    }
  }

  @Test func `a job without an id is found by its entry, one without an app has no record`()
    async throws
  {
    try await Lane.withStore { _, store in
      let unnamed = try await refuse(store, Self.refusal(""))
      #expect(try await store.record(unnamed.source).refusal?.reason == "invalid_job")
      let before = try await store.allKeys()
      for (app, id) in [("", "j"), ("a:b", "j"), (String(repeating: "a", count: 65), "j")] {
        try await refuse(store, Self.refusal(id, app: app))
      }
      for id in ["a b", "ä", String(repeating: "x", count: 129)] {
        try await refuse(store, Self.refusal(id))
      }
      #expect(try await store.allKeys() == before)
    }
  }

  @Test(arguments: [2, 2 << 20])
  func `the record is gone when the letter is retried, and stays when it is dropped`(bytes: Int)
    async throws
  {
    try await Lane.withStore { _, store in
      let text = "{\"x\":\"" + String(repeating: "x", count: bytes) + "\"}"
      try await refuse(store, text: text)
      let first = try #require(try await store.record("j").refusal?.letter)
      guard case .retried(.some) = try await store.deadLetters.retry(first) else {
        Issue.record("the letter was not retried")
        return
      }
      #expect(try await store.jobs.record(app: "shop", id: "j") == nil)
      let again = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
      try await store.jobs.refuse(again, Self.refusal(), consumer: "worker")
      try await refuse(store, text: text)
      // The record tells of the later one.
      let letters = try await store.deadLetters.list(max: 9).map(\.entry)
      #expect(letters.count == 2)
      guard case .retried(.some) = try await store.deadLetters.retry(letters[0]) else {
        Issue.record("the letter was not retried")
        return
      }
      #expect(try await store.record("j").refusal?.letter == letters[1])
      #expect(try await store.deadLetters.drop(letters[1]))
      #expect(try await store.record("j").refusal?.letter == letters[1])
    }
  }

  @Test func `what an operator says of a refused job comes too late`() async throws {
    try await Lane.withStore { _, store in
      try await refuse(store)
      let before = try await fields(store)
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .refused)
      #expect(try await store.jobs.pause(app: "shop", id: "j") == .refused)
      #expect(try await store.jobs.resume(app: "shop", id: "j") == .refused)
      #expect(try await store.jobs.setPace(app: "shop", id: "j", perSecond: 1) == .refused)
      #expect(try await fields(store) == before)
    }
  }

  @Test func `the record of a job that was cancelled and then refused has an end`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew()
      _ = try await store.jobs.waiting.takeName(
        "shop", "j", digest: "d", priority: .normal, entry: entry.entry)
      #expect(try await store.jobs.cancel(app: "shop", id: "j") == .cancelled)
      try await store.jobs.refuse(entry, Self.refusal(), consumer: "worker")
      #expect(try await store.record("j").state == .refused)
      // The name of a cancelled job has no end; this has.
      let seconds = try await store.redis("TTL", store.keys.job(app: "shop", id: "j")).integer ?? 0
      #expect(seconds > 0)
    }
  }

  @Test(arguments: ["j", nil])
  func `a job that loses its workers before it could be read is named by its text`(
    id: String?
  ) async throws {
    try await Lane.withStore { _, store in
      let given = id.map { "\"id\":\"\($0)\"," } ?? ""
      let text = "{\(given)\"app\":\"shop\"}"
      let entry = try await store.jobs.enqueue(Array(text.utf8), priority: .normal)
      for round in 0...4 {
        _ = try await store.jobs.take(consumer: "w\(round)", max: 1, abandonedForMs: 0)
      }
      #expect(try await store.jobs.take(consumer: "w5", max: 1, abandonedForMs: 0) == [])
      let record = try await store.record(id ?? JobSource.of(entry, .normal))
      #expect(record.refusal?.reason == "crashed_workers")
      let letter = try #require(try await store.deadLetters.list(max: 9).first)
      #expect(letter.app == "shop" && letter.id == id ?? "")
      _ = try await store.deadLetters.retry(letter.entry)
      #expect(try await store.jobs.record(app: "shop", id: record.id) == nil)
    }
  }

  @Test func `a long message is cut between two characters`() async throws {
    try await Lane.withStore { _, store in
      for shift in 0..<3 {
        var refusal = Self.refusal()
        refusal.message = String(repeating: "x", count: shift) + String(repeating: "ü", count: 600)
        try await refuse(store, refusal)
        let kept = try #require(try await store.record("j").refusal?.message)
        #expect(refusal.message.hasPrefix(kept) && (1_000...1_024).contains(kept.utf8.count))
      }
    }
  }

  @Test func `what stands in the place of the record or of the notices keeps no job from it`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.redis("SET", store.keys.finished, "x")
      try await refuse(store)
      #expect(try await store.record("j").state == .refused)
    }
  }
}
