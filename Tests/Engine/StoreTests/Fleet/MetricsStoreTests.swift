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

  @Test func `the timeline takes entries and stays bounded`() async throws {
    try await Lane.withStore { _, store in
      try await store.metrics.appendTimeline([("backlog", "1")])
      let entry = try await store.redis("XRANGE", store.keys.timeline, "-", "+").array?.first?.array
      #expect(entry?.last?.pairs.first?.0 == "backlog")
    }
  }
}
