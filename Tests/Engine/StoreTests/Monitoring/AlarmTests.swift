import Model
import Redis
import Testing

@testable import Store

@Suite struct AlarmTests {
  @Test func `an alarm is raised, renewed and cleared by who raised it last`() async throws {
    try await Lane.withStore { _, store in
      try await store.alarms.raise("breaker|shop", by: "w1", lifeMs: 60_000, message: "a \"b\"")
      let first = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(first.message == "a \"b\"")
      #expect(first.untilMs - first.atMs == 60_000)
      try await store.alarms.raise("breaker|shop", by: "w2", lifeMs: 60_000, message: "c")
      let renewed = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(renewed.atMs == first.atMs)
      #expect(renewed.message == "c")
      try await store.alarms.clear("breaker|shop", by: "w1")
      #expect(try await store.alarms.current(nowMs: 0).count == 1)
      try await store.alarms.clear("breaker|shop", by: "w2")
      #expect(try await store.alarms.current(nowMs: 0) == [])
    }
  }

  @Test func `an alarm that nobody renews is over`() async throws {
    try await Lane.withStore { _, store in
      try await store.alarms.raise("old", by: "w1", lifeMs: 0, message: "gone")
      try await store.alarms.raise("new", by: "w1", lifeMs: 60_000, message: "here")
      // The second raising has dropped the first.
      let fields = try await store.redis("HKEYS", store.keys.alarms).array?.map(\.string)
      #expect(fields == ["new"])
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(try await store.alarms.current(nowMs: alarm.untilMs) == [])
      #expect(try await store.alarms.current(nowMs: alarm.untilMs - 1) == [alarm])
    }
  }

  @Test func `their number has a bound, and renewing one is always possible`() async throws {
    try await Lane.withStore { _, store in
      for number in 0..<300 {
        try await store.alarms.raise("a\(number)", by: "w", lifeMs: 60_000, message: "m")
      }
      try await store.alarms.raise("a7", by: "w", lifeMs: 60_000, message: "again")
      let alarms = try await store.alarms.current(nowMs: 0)
      #expect(alarms.count == 256)
      #expect(alarms.contains { $0.field == "a7" && $0.message == "again" })
    }
  }

  @Test func `something else in the record is passed over, and dropped`() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.redis("HSET", store.keys.alarms, "a", "nonsense", "b", "[]")
      #expect(try await store.alarms.current(nowMs: 0) == [])
      try await store.alarms.raise("c", by: "w", lifeMs: 60_000, message: "m")
      #expect(try await store.redis("HLEN", store.keys.alarms).integer == 1)
    }
  }
}
