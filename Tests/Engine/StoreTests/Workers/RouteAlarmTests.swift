import Model
import Redis
import Testing

@testable import Store

/// The alarm of a route that no worker has stands as long as something waits for it, and no longer.
@Suite struct RouteAlarmTests {
  private static let waitMs: UInt64 = 600_000
  private static let shop = RouteTable(fields: [("shop", "apns|production")])

  /// Enqueues a job of an app that nobody has, and sets it aside.
  private func passOn(
    _ store: ShardStore, priority: Priority = .normal, expiresAtMs: Int64? = nil
  ) async throws -> JobEntry {
    let entry = try await store.takeNew(priority: priority)
    let answer = try await store.routes.passOn(
      [
        JobOfUnknownApp(
          entry: entry, app: "news", id: entry.source, suggestion: nil, expiresAtMs: expiresAtMs)
      ], consumer: "worker", waitMs: Self.waitMs)[0].get()
    #expect(answer == .ok)
    return entry
  }

  /// What a cancellation of a job writes that nobody has admitted.
  private func cancel(_ store: ShardStore, _ entry: JobEntry) async throws {
    let key = "{pp}:job:news:\(entry.source)"
    _ = try await store.redis("HSET", key, "source", entry.source, "state", "queued")
    #expect(try await store.jobs.cancel(app: "news", id: entry.source) == .cancelled)
  }

  /// The alarms after a look at what waits.
  private func alarms(_ store: ShardStore) async throws -> [String] {
    _ = try await store.redis("DEL", store.keys.routeSweep)
    _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
    return try await store.alarms.current(nowMs: 0).map(\.field)
  }

  @Test func `an alarm ends with the last job that waits, and begins again with the next`()
    async throws
  {
    try await Lane.withStore { _, store in
      let first = try await passOn(store)
      let second = try await passOn(store)
      #expect(try await alarms(store) == ["no_worker|news"])
      try await cancel(store, first)
      #expect(try await alarms(store) == ["no_worker|news"])
      try await cancel(store, second)
      #expect(try await alarms(store) == [])
      // They are where a worker that has the app finds them.
      #expect(try await store.redis("XLEN", "{pp}:jobs:normal").integer == 2)
      #expect(try await store.redis("ZCARD", "{pp}:unrouted:jobs:news").integer == 2)
      #expect(try await alarms(store) == [])
      // At once, and in whatever place of the order it stands.
      let urgent = try await passOn(store, priority: .high)
      #expect(try await store.alarms.current(nowMs: 0).map(\.field) == ["no_worker|news"])
      #expect(try await alarms(store) == ["no_worker|news"])
      try await cancel(store, urgent)
      #expect(try await alarms(store) == [])
    }
  }

  @Test func `an alarm names some of the jobs that wait, and none that was cancelled`() async throws
  {
    try await Lane.withStore { _, store in
      func message() async throws -> String {
        try await store.alarms.current(nowMs: 0).first?.message ?? ""
      }
      func names(_ entries: [JobEntry]) -> String {
        ": its jobs, such as \(entries.map(\.source).joined(separator: ", ")), wait for one, and "
      }
      var entries = [try await passOn(store)]
      #expect(try await message().contains(names(entries)))
      for _ in 0..<4 { entries.append(try await passOn(store)) }
      _ = try await alarms(store)
      #expect(try await message().contains(names(Array(entries[..<3]))))
      for entry in entries[..<3] { try await cancel(store, entry) }
      _ = try await alarms(store)
      #expect(try await message().contains(names(Array(entries[3...]))))
      // Another program's value stops no work.
      _ = try await store.redis("SET", "{pp}:unrouted:chunks:news", "x")
      _ = try await store.redis("DEL", store.keys.alarms, "{pp}:unrouted", "{pp}:unrouted:looked")
      _ = try await passOn(store)
      #expect(try await message().contains(": its jobs wait for one, and "))
    }
  }

  @Test func `a chunk that waits is named by its job`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("campaign", users: [["u1"], ["u2"], ["u3"]])
      for claim in try await store.chunks.claim(consumer: "worker", max: 3) {
        #expect(try await store.routes.passOn(claim, consumer: "worker", waitMs: Self.waitMs))
      }
      let message = try await store.alarms.current(nowMs: 0).first?.message ?? ""
      #expect(message.contains(": its jobs, such as campaign, wait for one, and "), "\(message)")
    }
  }

  @Test func `a job of higher priority is seen to wait beside one that was found before`()
    async throws
  {
    try await Lane.withStore { _, store in
      let normal = try await passOn(store)
      #expect(try await alarms(store) == ["no_worker|news"])
      let urgent = try await passOn(store, priority: .high)
      try await cancel(store, normal)
      #expect(try await alarms(store) == ["no_worker|news"])
      try await cancel(store, urgent)
      #expect(try await alarms(store) == [])
    }
  }

  @Test func `what has expired waits for no worker`() async throws {
    try await Lane.withStore { _, store in
      _ = try await passOn(store, expiresAtMs: 1)
      #expect(try await alarms(store) == [])
      _ = try await passOn(store, expiresAtMs: .max / 1_000_000)
      #expect(try await alarms(store) == ["no_worker|news"])
    }
  }

  @Test func `an alarm ends with the chunks that wait: cancelled, expired or taken from the list`()
    async throws
  {
    for end in ["cancelled", "expired", "taken"] {
      try await Lane.withStore { _, store in
        _ = try await store.routes.announce(Self.shop, waitMs: Self.waitMs)
        try await store.admit("a", users: [["u1"]])
        let claim = try await store.claimOne("worker")
        #expect(try await store.routes.passOn(claim, consumer: "worker", waitMs: Self.waitMs))
        // As when the worker that had the app is gone.
        _ = try await store.redis("DEL", "{pp}:routed", "{pp}:routes:\(Self.shop.digest)")
        _ = try await store.redis("ZADD", "{pp}:unrouted", "1", "shop")
        let none = RouteTable(fields: [("other", "apns|production")])
        func alarms() async throws -> [String] {
          _ = try await store.redis("DEL", store.keys.routeSweep)
          _ = try await store.routes.announce(none, waitMs: Self.waitMs)
          return try await store.alarms.current(nowMs: 0).map(\.field)
        }
        #expect(try await alarms() == ["no_worker|shop"])
        switch end {
        case "cancelled": _ = try await store.redis("HSET", "{pp}:job:shop:a", "state", end)
        case "expired": _ = try await store.redis("HSET", "{pp}:job:shop:a", "expires_at", "1")
        default: _ = try await store.redis("DEL", store.keys.delayed)
        }
        #expect(try await alarms() == [], "\(end)")
        #expect(try await store.redis("ZCARD", "{pp}:unrouted:chunks:shop").integer == 1)
      }
    }
  }

  @Test func `an older version that adds work does not say so, and the alarm begins again`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await cancel(store, try await passOn(store))
      #expect(try await alarms(store) == [])
      _ = try await store.redis(
        "ZADD", "{pp}:unrouted:jobs:news", "1", #"["job","high","1-1",1,"old"]"#)
      #expect(try await alarms(store) == ["no_worker|news"])
    }
  }
}
