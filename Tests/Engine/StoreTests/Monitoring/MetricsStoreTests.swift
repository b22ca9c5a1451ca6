import Model
import Redis
import Testing

@testable import Store

@Suite struct MetricsStoreTests {
  @Test func `latencies add up in their minute and expire`() async throws {
    try await Lane.withStore { _, store in
      for _ in 0..<2 {
        try await store.metrics.recordLatency(
          [
            LatencyCount(network: .apns, boundMs: 50, count: 3),
            LatencyCount(network: .fcm, boundMs: 100, count: 1),
          ], minute: "202611211200")
      }
      #expect(try await store.metrics.latency("202611211200") == ["apns|50": 6, "fcm|100": 2])
      let ttl = try await store.redis("TTL", store.keys.latency("202611211200")).integer
      #expect(try #require(ttl) > 170_000)
    }
  }

  @Test func `the jobs that ended are counted beyond what the stream of notices keeps`()
    async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await store.metrics.endedCount() == 0)
      for number in 1...5 {
        _ = try await store.redis(
          "XADD", store.keys.finished, "MAXLEN", "2", "\(number)-0", "app", "shop")
      }
      #expect(try await store.metrics.endedCount() == 5)
    }
  }

  @Test func `how many had ended a day ago is the first entry of the day that the timeline has`()
    async throws
  {
    try await Lane.withStore { _, store in
      let nowMs: Int64 = 1_800_000_000_000
      #expect(try await store.metrics.endedADayAgo(nowMs: nowMs) == nil)
      for (hours, count) in [(25, 10), (23, 20), (1, 30)] {
        _ = try await store.redis(
          "XADD", store.keys.timeline, "\(nowMs - Int64(hours) * 3_600_000)-0", "backlog", "0",
          "ended", "\(count)")
      }
      let found = try await store.metrics.endedADayAgo(nowMs: nowMs)
      #expect(found == EndedJobs(count: 20, atMs: nowMs - 23 * 3_600_000))
      // A worker of an older version writes none.
      _ = try await store.redis("DEL", store.keys.timeline)
      _ = try await store.redis("XADD", store.keys.timeline, "\(nowMs)-0", "backlog", "0")
      #expect(try await store.metrics.endedADayAgo(nowMs: nowMs) == nil)
    }
  }

  @Test func `the timeline takes entries and stays bounded`() async throws {
    try await Lane.withStore { _, store in
      try await store.metrics.appendTimeline([("backlog", "1")])
      let entry = try await store.redis("XRANGE", store.keys.timeline, "-", "+").array?.first?.array
      #expect(entry?.last?.pairs.first?.0 == "backlog")
    }
  }
}
