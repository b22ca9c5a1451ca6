import Model
import Redis
import Testing

@testable import Store

/// What others do to the producers' streams.
@Suite struct StreamStoreTests {
  private static let last = "18446744073709551615-18446744073709551615"

  private func add(_ store: ShardStore, _ count: Int, _ words: [String] = []) async throws {
    for _ in 0..<count {
      _ = try await store.redis(["XADD", "{pp}:jobs:normal"] + words + ["*", "job", "{}"])
    }
  }

  /// How many jobs a look says were lost.
  private func lost(_ store: ShardStore) async throws -> Int {
    try await store.streams.inspect().reduce(0) { sum, found in
      if case .lost(let count) = found.finding { sum + count } else { sum }
    }
  }

  private func alarm(_ store: ShardStore, _ field: String) async throws -> Alarm? {
    try await store.alarms.current(nowMs: 0).first { $0.field == field }
  }

  @Test func `what a producer trims before anybody took it is counted, and is an alarm`()
    async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await lost(store) == 0)
      try await add(store, 100, ["MAXLEN", "=", "10"])
      #expect(try await lost(store) == 90)
      #expect(try await lost(store) == 0)
      _ = try await store.redis("XTRIM", "{pp}:jobs:normal", "MAXLEN", "7")
      #expect(try await lost(store) == 3)
      let message = try #require(try await alarm(store, "trimmed|normal")).message
      #expect(message.hasPrefix("93 jobs were deleted from {pp}:jobs:normal"))
    }
  }

  @Test func `what was trimmed before the first worker came is counted, too`() async throws {
    try await Lane.withStore { _, store in
      try await add(store, 20, ["MAXLEN", "=", "5"])
      #expect(try await lost(store) == 15)
    }
  }

  @Test func `jobs that end, are admitted and refused are not lost`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await lost(store) == 0)
      try await store.admit("a", users: [["u"]])
      #expect(try await lost(store) == 0)
      var admission = Admission(
        app: "shop", id: "b", digest: "d", content: [0x7b, 0x7d],
        audience: Admission.Audience(lines: .users, recipients: 1, segments: 1))
      admission.audience.texts = [Array("u\n".utf8)]
      let direct = DirectJob(entry: try await store.takeNew(), admission: admission)
      #expect(try await store.jobs.direct.begin([direct], consumer: "worker") == [.success(.new)])
      let ending = DirectEnding(
        job: direct, startedAtMs: 1, settlement: .final(accepted: 1, users: 1))
      for _ in 0..<2 { #expect(try await store.jobs.direct.end([ending]) == [.ended]) }
      #expect(try await lost(store) == 0)
      let refused = try await store.takeNew()
      let refusal = Refusal(reason: "invalid_job", message: "No", app: "shop", id: "c")
      #expect(try await store.jobs.refuse(refused, refusal, consumer: "worker"))
      // No job at all.
      _ = try await store.redis("XADD", "{pp}:jobs:high", "*", "task", "{}")
      #expect(try await store.jobs.take(consumer: "worker", max: 1).isEmpty)
      #expect(try await lost(store) == 0)
    }
  }

  @Test func `what is trimmed while a lane has it is not lost`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await lost(store) == 0)
      let entries = try await store.takeNew("worker", count: 4)
      try await add(store, 2)
      _ = try await store.redis("XTRIM", "{pp}:jobs:normal", "MAXLEN", "1")
      #expect(try await lost(store) == 1)
      for entry in entries {
        let refusal = Refusal(reason: "invalid_job", message: "No", app: "shop", id: "c")
        #expect(try await store.jobs.refuse(entry, refusal, consumer: "worker"))
      }
      #expect(try await lost(store) == 0)
    }
  }

  @Test func `of a stream that is deleted what waited is lost`() async throws {
    try await Lane.withStore { _, store in
      try await add(store, 5)
      #expect(try await lost(store) == 0)
      _ = try await store.redis("DEL", "{pp}:jobs:normal")
      #expect(try await lost(store) == 5)
      try await add(store, 3)
      #expect(try await lost(store) == 0)
      _ = try await store.redis("XTRIM", "{pp}:jobs:normal", "MAXLEN", "1")
      #expect(try await lost(store) == 2)
    }
  }

  @Test func `beside workers of another version, which do not count, nothing is said`()
    async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await lost(store) == 0)
      let time = try #require(try await store.redis("TIME").array?.first?.string)
      for library in ["pushpool_a", "pushpool_b"] {
        _ = try await store.redis("ZADD", "{pp}:libraries", "\(time)000", library)
      }
      try await add(store, 3)
      _ = try await store.redis("XTRIM", "{pp}:jobs:normal", "MAXLEN", "1")
      #expect(try await lost(store) == 0)
      _ = try await store.redis("ZREM", "{pp}:libraries", "pushpool_b")
      _ = try await store.redis("XTRIM", "{pp}:jobs:normal", "MAXLEN", "0")
      #expect(try await lost(store) == 1)
    }
  }

  @Test func `a stream with the highest id is an alarm, and takes jobs again when it is empty`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.redis("XADD", "{pp}:jobs:low", Self.last, "job", "{}")
      await #expect(throws: RedisError.self) {
        try await store.jobs.enqueue(Array("{}".utf8), priority: .low)
      }
      let found = try await store.streams.inspect()
      #expect(found.map(\.finding) == [.exhausted(left: 1)] && found.map(\.priority) == [.low])
      #expect(try await alarm(store, "exhausted|low") != nil)
      let entry = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
      #expect(try await store.streams.inspect().map(\.finding) == [.exhausted(left: 1)])
      let refusal = Refusal(reason: "invalid_job", message: "No", app: "shop", id: "c")
      #expect(try await store.jobs.refuse(entry, refusal, consumer: "worker"))
      #expect(try await store.streams.inspect().map(\.finding) == [.renewed])
      #expect(try await alarm(store, "exhausted|low") == nil)
      _ = try await store.takeNew(priority: .low)
      #expect(try await store.streams.inspect().isEmpty)
    }
  }
}
