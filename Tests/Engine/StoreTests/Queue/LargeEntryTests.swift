import Model
import Redis
import Testing

@testable import Store

/// Calls beside a job of megabytes, which Redis copies whole to whoever reads its entry: counted in bytes, since
/// milliseconds are the machine's.
@Suite struct LargeEntryTests {
  private static let bytes = 8 << 20
  private static let text = Array(
    (#"{"ballast":""# + String(repeating: "x", count: bytes) + #""}"#).utf8)

  /// Adds it as if it had been enqueued an hour ago.
  private func enqueue(_ store: ShardStore) async throws -> String {
    let seconds = try await store.redis("TIME").array?.first?.integer ?? 0
    let entry = "\((seconds - 3_600) * 1_000)-1"
    var command = RedisCommand("XADD", store.keys.jobs(.low), entry, "job")
    command.append(Self.text)
    _ = try await store.connection.call(command)
    return entry
  }

  @Test func `the age of a large job that waits is known without copying it each time`()
    async throws
  {
    try await Lane.withStore { _, store in
      let entry = try await enqueue(store)
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .low)
      for round in 1...3 {
        var waitedMs = 0
        let copied = try await store.copied {
          let sent = try await store.sent { waitedMs = try await store.backlog.oldestWaitingMs() }
          #expect(round == 1 || sent < 10_000, "\(sent) bytes in round \(round)")
        }
        #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes in round \(round)")
        #expect((3_500_000...3_700_000).contains(waitedMs))
      }
      let taken = try await store.jobs.take(consumer: "w", max: 1)
      #expect(taken.map(\.entry) == [entry])
      let waitedMs = try await store.backlog.oldestWaitingMs()
      #expect(waitedMs < 60_000, "the next one has waited for \(waitedMs) ms")
    }
  }

  @Test func `what was taken out of its turn is not taken again beside a large job`() async throws {
    try await Lane.withStore { _, store in
      for number in 0..<40 {
        for app in ["a", "b"] {
          let job = #"{"id":"\#(number)","app":"\#(app)","audience":{"users":["u"]}}"#
          _ = try await store.jobs.enqueue(Array(job.utf8), priority: .normal)
        }
      }
      _ = try await store.jobs.enqueue(Self.text, priority: .normal)
      var given: [String: Int] = [:]
      for _ in 0..<100 where given.count < 81 {
        for consumer in ["w-0", "w-1"] {
          for entry in try await store.jobs.take(consumer: consumer, max: 8) {
            given[entry.entry, default: 0] += 1
          }
        }
      }
      #expect(given.count == 81)
      #expect(given.filter { $0.value > 1 }.isEmpty, "given to two, or twice")
    }
  }

  /// A job that w-0 took out of its turn.
  /// - Parameter besideLarge: whether a job stands behind that no function is to read.
  private func takenOutOfTurn(
    _ store: ShardStore, besideLarge: Bool = false
  ) async throws -> JobEntry {
    for number in 0..<70 {
      let app = number < 60 ? "a" : "b"
      let job = #"{"id":"\#(number)","app":"\#(app)","audience":{"users":["u"]}}"#
      _ = try await store.jobs.enqueue(Array(job.utf8), priority: .normal)
    }
    if besideLarge { _ = try await store.jobs.enqueue(Self.text, priority: .normal) }
    var early: JobEntry?
    // Who has jobs to begin does not wait for what the scout sees, which looks every few milliseconds; here at each call.
    for _ in 0..<12 where early == nil {
      _ = try await store.redis("HDEL", store.keys.scout(.normal), "at")
      early = try await store.jobs.take(consumer: "w-0", max: 4)
        .last { $0.text.contains(UInt8(ascii: "b")) }
    }
    return try #require(early)
  }

  /// The same, of which w-1 has read the stream since.
  private func readByAnother(
    _ store: ShardStore, besideLarge: Bool = false
  ) async throws -> JobEntry {
    let early = try await takenOutOfTurn(store, besideLarge: besideLarge)
    _ = try await store.redis(
      "XREADGROUP", "GROUP", "workers", "w-1", "COUNT", "100", "STREAMS",
      store.keys.jobs(.normal), ">")
    return early
  }

  @Test func `who took a job out of its turn owns it while another reads the stream`() async throws
  {
    try await Lane.withStore { _, store in
      let early = try await readByAnother(store)
      #expect(try await store.jobs.upload([[0x75]], first: 1, of: early, consumer: "w-0"))
      #expect(try await !store.jobs.upload([[0x75]], first: 1, of: early, consumer: "w-2"))
      #expect(try await store.jobs.heartbeat([early], consumer: "w-0") == [.ok])
      #expect(try await store.jobs.heartbeat([early], consumer: "w-2") == [.stale])
      let refusal = Refusal(reason: "invalid_job", field: "", message: "", app: "b", id: "")
      #expect(try await !store.jobs.refuse(early, refusal, consumer: "w-2"))
      #expect(try await store.jobs.refuse(early, refusal, consumer: "w-0"))
    }
  }

  @Test(arguments: [false, true])
  func `what was taken out of its turn is not taken by whose read of the stream was lost`(
    besideLarge: Bool
  ) async throws {
    try await Lane.withStore { _, store in
      let early = try await readByAnother(store, besideLarge: besideLarge)
      let found = try await store.jobs.takeUnanswered(consumer: "w-1", max: 100, inHand: [])
      #expect(found.count > 10)
      #expect(!found.contains { $0.entry == early.entry })
      let again = try await store.jobs.takeUnanswered(consumer: "w-0", max: 100, inHand: [])
      #expect(again.contains { $0.entry == early.entry })
    }
  }

  @Test func `who took a job out of its turn has it again when the reply was lost`() async throws {
    try await Lane.withStore { _, store in
      let early = try await takenOutOfTurn(store)
      let found = try await store.jobs.takeUnanswered(consumer: "w-0", max: 100, inHand: [])
      #expect(found.contains(early))
    }
  }

  @Test func `small jobs are handed over before a large one is read`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await enqueue(store)
      let small = try await store.jobs.enqueue(Array("{}".utf8), priority: .high)
      var early: [JobEntry] = []
      let late = try await store.jobs.take(
        consumer: "w", max: 8,
        beforeReading: { entries throws(RedisError) in
          early += entries
          let waiting = try await store.connection.call(
            RedisCommand("XPENDING", store.keys.jobs(.low), "workers")
          ) { $0[0].integer }
          #expect(waiting == 0, "nobody has been given the large one yet")
        })
      #expect(early.map(\.entry) == [small])
      #expect(late.map(\.entry) == [entry])
      #expect(late.first?.text.count == Self.bytes + 14)
    }
  }

  @Test func `what lanes wait behind is known without copying a job`() async throws {
    try await Lane.withStore { _, store in
      _ = try await enqueue(store)
      let signal = WorkSignal(connection: store.connection, prefix: store.keys.prefix)
      let copied = try await store.copied {
        let sent = try await store.sent { try await signal.pass() }
        #expect(sent < 10_000, "\(sent) bytes")
      }
      #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
    }
  }

  @Test func `a job that somebody deletes is not the oldest any more`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await enqueue(store)
      #expect(try await store.backlog.oldestWaitingMs() > 3_500_000)
      _ = try await store.redis("XDEL", store.keys.jobs(.low), entry)
      #expect(try await store.backlog.oldestWaitingMs() == 0)
      #expect(try await store.jobs.isQueued(entry, .low) == false)
    }
  }

  @Test func `whether a large job is in its stream is known without copying it`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await enqueue(store)
      let copied = try await store.copied {
        let sent = try await store.sent {
          let isQueued = try await store.jobs.isQueued(entry, .low)
          let isElsewhere = try await store.jobs.isQueued(entry, .high)
          #expect(isQueued && !isElsewhere)
        }
        #expect(sent < 10_000, "\(sent) bytes")
        let answer = try await store.jobs.waiting.takeName(
          "shop", "j", digest: "d", priority: .low, entry: entry)
        #expect(answer == .new)
        // Another job of the name: is the first still there?
        let other = try await store.jobs.enqueue(Array("{}".utf8), priority: .high)
        let conflict = try await store.jobs.waiting.takeName(
          "shop", "j", digest: "e", priority: .high, entry: other)
        #expect(conflict == .conflict)
      }
      #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
      // Nothing is left of the looking.
      let groups = try await store.redis("XINFO", "GROUPS", store.keys.jobs(.low)).array
      #expect(groups?.count == 0)
    }
  }

  @Test func `a group that was left on a stream keeps nobody from looking`() async throws {
    try await Lane.withStore { _, store in
      let entry = try await enqueue(store)
      _ = try await store.redis("XGROUP", "CREATE", store.keys.jobs(.low), "pushpool_probe", "0")
      #expect(try await store.jobs.isQueued(entry, .low))
      #expect(try await store.backlog.oldestWaitingMs() > 3_500_000)
    }
  }

  private static let refusal = Refusal(reason: "invalid_job", field: "/x", message: "no")

  private func letters(_ store: ShardStore) async throws -> [String] {
    try await store.allKeys().filter { $0.contains(":letter:") }
  }

  @Test func `a large job is refused without copying it, and its letter has all of it`()
    async throws
  {
    try await Lane.withStore { _, store in
      let id = try await enqueue(store)
      // Taken without a function: what that leaves would be cleared away meanwhile, and hide a copy.
      let key = store.keys.jobs(.low)
      _ = try await store.redis("XGROUP", "CREATE", key, "workers", "0")
      _ = try await store.redis("XREADGROUP", "GROUP", "workers", "w", "STREAMS", key, ">")
      let entry = JobEntry(priority: .low, entry: id, text: Self.text)
      let copied = try await store.copied {
        let isRefused = try await store.jobs.refuse(entry, Self.refusal, consumer: "w")
        #expect(isRefused)
      }
      #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
      let letter = try #require(try await store.deadLetters.list(max: 10).first)
      #expect(letter.reason == "invalid_job" && !letter.isTruncated)
      #expect(try await letters(store) == [store.keys.letter(letter.entry)])
      #expect(try await store.redis("TTL", store.keys.letter(letter.entry)).integer == -1)
      #expect(
        try await store.redis("STRLEN", store.keys.letter(letter.entry)).integer == Self.text.count)
      #expect(try await store.deadLetters.show(letter.entry)?.isTruncated == false)
      _ = try await store.deadLetters.retry(letter.entry)
      #expect(try await store.jobs.take(consumer: "w", max: 1).map(\.text) == [Self.text])
    }
  }

  @Test func `a worker that dies before it has refused a large job leaves the job to the next`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await enqueue(store)
      let entry = try #require(try await store.jobs.take(consumer: "dead", max: 1).first)
      // It got as far as this.
      let copy = store.keys.letter(entry.source)
      _ = try await store.redis("SET", copy, "a part", "EX", "600")
      #expect(try await store.jobs.isQueued(entry.entry, .low))
      let again = try await store.jobs.take(consumer: "w", max: 1, abandonedForMs: 0)
      #expect(again.map(\.text) == [Self.text])
      #expect(try await store.jobs.refuse(again[0], Self.refusal, consumer: "w"))
      let letter = try #require(try await store.deadLetters.list(max: 10).first)
      #expect(
        try await store.redis("STRLEN", store.keys.letter(letter.entry)).integer == Self.text.count)
      // The dead one was only slow: it changes nothing, and leaves nothing.
      #expect(try await store.jobs.refuse(entry, Self.refusal, consumer: "dead") == false)
      #expect(try await store.deadLetters.count() == 1)
      #expect(try await letters(store) == [store.keys.letter(letter.entry)])
    }
  }

  @Test func `a refused job whose copy could not be made is copied by the function`() async throws {
    try await Lane.withStore { _, store in
      _ = try await enqueue(store)
      let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
      let functions = StoreFunctions(connection: store.connection, keys: store.keys)
      let command = functions.call(
        "refuse", "w", "low", entry.entry, "invalid_job", "/x", "no", "", "")
      #expect(try await functions.run(command) { $0.string } == "OK")
      let letter = try #require(try await store.deadLetters.list(max: 10).first)
      #expect(
        try await store.deadLetters.show(letter.entry)?.original?.utf8.count == Self.text.count)
    }
  }
}
