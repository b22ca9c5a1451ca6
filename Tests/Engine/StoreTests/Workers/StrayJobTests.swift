import Model
import Redis
import Testing

@testable import Store

/// Jobs that wait here and whose apps live in another shard.
@Suite struct StrayJobTests {
  private static let waitMs: UInt64 = 600_000
  private static let shop = RouteTable(fields: [("shop", "apns|production")])

  /// Sets a job aside whose app lives in the shard `eu`.
  private func passOnStray(_ store: ShardStore) async throws -> String {
    _ = try await store.redis("HSET", "{pp}:elsewhere", "other", "eu")
    let text = #"{"app":"other","audience":{"users":["u"]},"notification":{"title":"t"}}"#
    _ = try await store.jobs.enqueue(Array(text.utf8), priority: .normal)
    let entry = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
    let job = JobOfUnknownApp(
      entry: entry, app: "other", id: entry.source, suggestion: nil,
      givenID: "main-\(entry.source)")
    try await passOn(job, store)
    return entry.source
  }

  private func passOn(_ job: JobOfUnknownApp, _ store: ShardStore) async throws {
    #expect(
      try await store.routes.passOn([job], consumer: "worker", waitMs: Self.waitMs)[0].get() == .ok)
  }

  @Test func `a job of another shard that is given up has the id in its text that it has there`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      let source = try await passOnStray(store)
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(alarm.message.contains(#""other" lives in the shard "eu""#), "\(alarm.message)")
      #expect(!alarm.message.contains("start a worker"), "\(alarm.message)")
      for _ in 0..<200 where try await store.deadLetters.count() == 0 {
        _ = try await store.redis("DEL", "{pp}:routes_gathering", "{pp}:unrouted:sweep")
        _ = try await store.routes.announce(Self.shop, waitMs: 1)
      }
      let letter = try #require(try await store.redis("XRANGE", "{pp}:dead", "-", "+").array?.first)
      let fields = Dictionary(letter.array?.last?.pairs ?? [], uniquingKeysWith: { $1 })
      let (text, message) = (fields["job"] ?? "", fields["message"] ?? "")
      #expect(try Job(bytes: Array(text.utf8)).id == "main-\(source)", "\(text)")
      #expect(message.contains("when that shard is there again retry this"), "\(message)")
      #expect(!message.contains("add it under apps"), "\(message)")
    }
  }

  @Test func `a job behind many that are paused is found`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      for _ in 0..<150 {
        let paused = try await passOnStray(store)
        _ = try await store.redis(
          "HSET", "{pp}:job:other:\(paused)", "state", "paused", "source", paused)
      }
      let source = try await passOnStray(store)
      for max in [1, 64] {
        var found: [JobEntry] = []
        for pass in 0..<4 where found.isEmpty {
          found = try await store.routes.takeJobs(
            consumer: "k-0", of: ["other"], max: max, pass: pass)
        }
        #expect(found.map(\.source) == (max == 1 ? [source] : []))
      }
      #expect(try await store.redis("ZCARD", "{pp}:unrouted:jobs:other").integer == 150)
    }
  }

  @Test func `jobs of named apps are taken from those that wait, and paused ones stay`()
    async throws
  {
    try await Lane.withStore { _, store in
      _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
      let paused = try await passOnStray(store)
      _ = try await store.redis(
        "HSET", "{pp}:job:other:\(paused)", "state", "paused", "source", paused)
      let source = try await passOnStray(store)
      try await passOn(
        JobOfUnknownApp(
          entry: try await store.takeNew(), app: "news", id: "a", suggestion: nil), store)
      #expect(try await store.routes.unrouted().sorted() == ["news", "other"])
      func take(_ apps: String...) async throws -> [String] {
        try await store.routes.takeJobs(consumer: "k-0", of: apps, max: 8).map(\.source)
      }
      #expect(try await take("other") == [source])
      #expect(try await take("other", "nobody").isEmpty)
      _ = try await store.redis("HSET", "{pp}:job:other:\(paused)", "state", "queued")
      #expect(try await take("other") == [paused])
    }
  }
}
