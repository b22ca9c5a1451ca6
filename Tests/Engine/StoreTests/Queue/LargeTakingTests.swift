import LocalServices
import Model
import Redis
import Testing

@testable import Store

/// Jobs that are too large for a function to read are leased by their ids, and read by who took them.
@Suite struct LargeTakingTests {
  private static let bytes = 8 << 20

  private static func job(_ app: String, _ id: String, bytes: Int = bytes) -> [UInt8] {
    Array(
      (#"{"app" : "\#(app)","id":"\#(id)","ballast":""# + String(repeating: "x", count: bytes)
        + #""}"#).utf8)
  }

  /// One that is of no priority's turn: by it alone a stream counts as one with large jobs.
  private static func weighDown(_ store: ShardStore, _ priority: Priority) async throws {
    let key = store.keys.jobs(priority)
    var command = RedisCommand("XADD", key, "1-1", "note")
    command.append([UInt8](repeating: 0x78, count: 3 << 20))
    _ = try await store.connection.call(command)
    _ = try await store.redis("XGROUP", "CREATE", key, "workers", "1-1")
  }

  /// Texts that calls took, which copied none of them in a function.
  private func taken(
    _ store: ShardStore, _ body: () async throws -> [JobEntry]
  ) async throws -> [JobEntry] {
    var entries: [JobEntry] = []
    let copied = try await store.copied { entries = try await body() }
    #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
    return entries
  }

  @Test func `a large job is taken without a function copying it`() async throws {
    try await Lane.withStore { _, store in
      let text = Self.job("shop", "j")
      let id = try await store.jobs.enqueue(text, priority: .low)
      let entries = try await taken(store) {
        try await store.jobs.take(consumer: "w", max: 2, abandonedForMs: 60_000)
      }
      #expect(entries == [JobEntry(priority: .low, entry: id, text: text)])
      #expect(try await store.jobs.heartbeat(entries, consumer: "w") == [.ok])
      #expect(try await store.jobs.take(consumer: "w", max: 2) == [])
    }
  }

  @Test func `a large job whose worker died is taken up, and one whose answer was lost`()
    async throws
  {
    try await Lane.withStore { _, store in
      let text = Self.job("shop", "j")
      _ = try await store.jobs.enqueue(text, priority: .high)
      _ = try await store.jobs.take(consumer: "dead", max: 1)
      for deliveries in 2...3 {
        let entries = try await taken(store) {
          try await store.jobs.take(consumer: "w\(deliveries)", max: 1, abandonedForMs: 0)
        }
        #expect(entries.map(\.text) == [text] && entries[0].deliveries == deliveries)
      }
      let again = try await taken(store) {
        try await store.jobs.takeUnanswered(consumer: "w3", max: 2, inHand: [])
      }
      #expect(again.map(\.text) == [text] && again[0].deliveries == 3)
      #expect(
        try await store.jobs.takeUnanswered(consumer: "w3", max: 2, inHand: again) == [])
    }
  }

  @Test func `a large job that lost five workers becomes a dead letter with all of its text`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.jobs.enqueue(Self.job("shop", "j"), priority: .high)
      var refused: [String] = []
      for worker in 0...5 {
        _ = try await store.jobs.take(consumer: "w\(worker)", max: 1, abandonedForMs: 0) {
          refused.append($0.reason)
        }
      }
      #expect(refused == ["crashed_workers"])
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      #expect(
        try await store.redis("STRLEN", store.keys.letter(letter.entry)).integer
          == Self.job("shop", "j").count)
    }
  }

  @Test func `jobs beside a large one are taken by priority, in their order, and each once`()
    async throws
  {
    try await Lane.withStore { _, store in
      for priority in Priority.allCases { try await Self.weighDown(store, priority) }
      var ids: [String] = []
      for priority in Priority.allCases.reversed() {
        for number in 0..<5 {
          let text = Self.job("shop", "\(priority)\(number)", bytes: number == 2 ? 2 << 20 : 10)
          ids.append(try await store.jobs.enqueue(text, priority: priority))
        }
      }
      var found: [[String]] = []
      while case let entries = try await store.jobs.take(consumer: "w", max: 4), !entries.isEmpty {
        found.append(entries.map { "\($0.priority) \($0.entry)" })
      }
      let order = Priority.allCases.flatMap { priority in
        ids[((2 - Priority.allCases.firstIndex(of: priority)!) * 5)...].prefix(5).map {
          "\(priority) \($0)"
        }
      }
      #expect(found.flatMap { $0 } == order)
      #expect(found.first?.count == 3, "no further one behind two megabytes")
    }
  }

  /// Of several together no mean is known: one of them may be more than a lane takes.
  @Test(arguments: [1, 7])
  func `a lane that leaves large jobs to others takes what other streams have`(
    larges: Int
  ) async throws {
    try await Lane.withStore { _, store in
      for number in 0..<larges {
        _ = try await store.jobs.enqueue(Self.job("shop", "large\(number)"), priority: .normal)
      }
      _ = try await store.jobs.enqueue(Self.job("shop", "behind", bytes: 9), priority: .normal)
      _ = try await store.jobs.enqueue(Self.job("shop", "low", bytes: 9), priority: .low)
      _ = try await store.jobs.enqueue(Self.job("shop", "high", bytes: 9), priority: .high)
      func take(leavesLarge: Bool) async throws -> [Priority] {
        var early: [JobEntry] = []
        let late = try await store.jobs.take(
          consumer: "w", max: 9, leavesLarge: leavesLarge,
          beforeReading: { entries in early += entries })
        return (early + late).map(\.priority)
      }
      #expect(try await take(leavesLarge: true) == [.high, .low])
      #expect(try await take(leavesLarge: true) == [])
      #expect(try await take(leavesLarge: false) == [.normal])
      #expect(try await take(leavesLarge: false) == [.normal])
    }
  }

  @Test("of priorities below the last one nothing is taken", arguments: [1, 3])
  func keepsToPriorities(larges: Int) async throws {
    try await Lane.withStore { _, store in
      for number in 0..<larges {
        _ = try await store.jobs.enqueue(Self.job("shop", "large\(number)"), priority: .high)
      }
      for priority in Priority.allCases {
        _ = try await store.jobs.enqueue(
          Self.job("shop", priority.rawValue, bytes: 9), priority: priority)
      }
      func take(downTo last: Priority) async throws -> [Priority] {
        var all: [JobEntry] = []
        // Large ones come a few at a time.
        for _ in 0...larges {
          all += try await store.jobs.take(
            consumer: "w", max: 9, downTo: last, beforeReading: { all += $0 })
        }
        return all.map(\.priority)
      }
      #expect(try await take(downTo: .high) == Array(repeating: .high, count: larges + 1))
      #expect(try await take(downTo: .normal) == [.normal])
      #expect(try await take(downTo: .low) == [.low])
    }
  }

  @Test func `beside a large job no app waits for another's queue`() async throws {
    try await Lane.withStore { _, store in
      try await Self.weighDown(store, .normal)
      for number in 0..<400 {
        _ = try await store.jobs.enqueue(
          Self.job("a", "\(number)", bytes: 20_000), priority: .normal)
      }
      let early = try await store.jobs.enqueue(Self.job("b", "0"), priority: .normal)
      var found: [String] = []
      let copied = try await store.copied {
        for _ in 0..<200 where !found.contains(early) {
          // The scout looks every few milliseconds; here it looks at each call.
          _ = try await store.redis("HDEL", store.keys.scout(.normal), "at")
          found += try await store.jobs.take(consumer: "w", max: 2).map(\.entry)
        }
      }
      #expect(found.last == early && found.count < 60, "after \(found.count) others")
      #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
      #expect(Set(found).count == found.count)
    }
  }

  @Test func `what is no job or too large a one is refused beside large ones as well`() async throws
  {
    try await Lane.withStore { _, store in
      try await Self.weighDown(store, .normal)
      _ = try await store.redis("XADD", store.keys.jobs(.normal), "*", "nojob", "x")
      _ = try await store.jobs.enqueue(
        Self.job("a", "1", bytes: Limits.jobBytesMax), priority: .normal)
      let good = try await store.jobs.enqueue(Self.job("a", "2", bytes: 1), priority: .normal)
      var refused: [String] = []
      var found: [JobEntry] = []
      for _ in 0..<4 {
        found += try await store.jobs.take(consumer: "w", max: 2) { refused.append($0.reason) }
      }
      #expect(refused == ["malformed_entry", "too_large"])
      #expect(found.map(\.entry) == [good])
      #expect(try await store.deadLetters.list(max: 5).map(\.isTruncated) == [false, true])
    }
  }

  @Test func `who may not weigh a stream has the functions read it`() async throws {
    try await Lane.withStore { _, store in
      let text = Self.job("shop", "j", bytes: 2 << 20)
      _ = try await store.jobs.enqueue(text, priority: .normal)
      _ = try await store.redis("ACL", "SETUSER", "default", "-memory")
      #expect(try await store.jobs.take(consumer: "w", max: 1).map(\.text) == [text])
    }
  }

  @Test func `a large job that waits is found by its id without a function copying it`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.jobs.enqueue(Self.job("shop", "other"), priority: .normal)
      let entry = try await store.jobs.enqueue(Self.job("shop", "wanted"), priority: .normal)
      _ = try await store.jobs.enqueue(Self.job("shop", "small", bytes: 1), priority: .normal)
      for (id, wanted) in [("wanted", [entry]), ("nobody", [])] {
        var (found, looked, after): ([String], Int, String?) = ([], 0, nil)
        let copied = try await store.copied {
          repeat {
            let page = try await store.jobs.waiting.search(
              id: id, priority: .normal, after: after)
            found += page.entries
            looked += page.looked
            after = page.next
          } while after != nil && looked < 10
        }
        #expect(found == wanted && looked == 3)
        #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
      }
    }
  }

  // MARK: Dead letters

  private func letter(_ store: ShardStore, _ text: [UInt8]) async throws -> String {
    _ = try await store.jobs.enqueue(text, priority: .high)
    let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
    let refusal = Refusal(reason: "invalid_job", message: "no")
    try await store.jobs.refuse(entry, refusal, consumer: "w")
    return try #require(try await store.deadLetters.last())
  }

  @Test func `a large dead letter is retried once by all who try, and no function copies it`()
    async throws
  {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      let text = Self.job("shop", "j")
      let first = try await letter(store, text)
      let copied = try await store.copied {
        let answers = try await withThrowingTaskGroup(of: DeadRetryAnswer.self) { group in
          for _ in 0..<3 {
            group.addTask {
              try await Lane.withConnection(server, library: StoreLibrary.library) { _, own in
                try await ShardStore(connection: own, prefix: "{pp}").deadLetters.retry(first)
              }
            }
          }
          return try await group.reduce(into: [DeadRetryAnswer]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == .absent } == 2, "\(answers)")
        #expect(answers.contains { if case .retried(.some) = $0 { true } else { false } })
      }
      #expect(copied < ShardStore.copiedBytesMax, "\(copied) bytes")
      #expect(try await store.jobs.take(consumer: "w", max: 3).map(\.text) == [text])
      #expect(try await store.deadLetters.count() == 0)
      #expect(try await store.deadLetters.retry(first) == .absent)
      #expect(try await store.allKeys().filter { $0.contains(":letter:") } == [])
    }
  }

  @Test func `a large dead letter is retried without the right to transactions, too`() async throws
  {
    try await Lane.withStore { _, store in
      let text = Self.job("shop", "j")
      let first = try await letter(store, text)
      _ = try await store.redis("ACL", "SETUSER", "default", "-@transaction")
      let answer = try await store.deadLetters.retry(first)
      #expect(answer != .absent && answer != .gone)
      #expect(try await store.jobs.take(consumer: "w", max: 3).map(\.text) == [text])
    }
  }
}
