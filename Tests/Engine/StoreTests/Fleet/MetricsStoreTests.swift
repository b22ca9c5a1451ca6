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

  @Test func `workers beat, are listed, and leave`() async throws {
    try await Lane.withStore { _, store in
      let now = try await store.metrics.beat(worker: "w1", fields: [("host", "a"), ("lanes", "2")])
      #expect(now > 1_700_000_000_000)
      let workers = try await store.metrics.workers()
      #expect(
        workers == [
          WorkerStatus(worker: "w1", lastBeatMs: now, fields: ["host": "a", "lanes": "2"])
        ])
      try await store.metrics.forget(worker: "w1")
      try await store.metrics.forget(worker: "w1")
      #expect(try await store.metrics.workers() == [])
      #expect(try await store.allKeys() == [])
    }
  }

  @Test func `a consumer with leases is never removed`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne("holder")
      // Redis 7.2 and later also knows the consumer in the streams where it found nothing.
      #expect(try await store.metrics.sweepConsumers(named: "holder") <= 1)
      #expect(try await store.chunks.heartbeat([claim], consumer: "holder") == [.ok])
      _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "holder")
      #expect(try await store.metrics.sweepConsumers(named: "holder") == 1)
      #expect(try await store.metrics.sweepConsumers(idleMs: 3_600_000) == 0)
      #expect(try await store.metrics.sweepConsumers(idleMs: 0) > 0)
    }
  }

  @Test func `the timeline takes entries and stays bounded`() async throws {
    try await Lane.withStore { _, store in
      try await store.metrics.appendTimeline([("backlog", "1")])
      let entry = try await store.redis("XRANGE", store.keys.timeline, "-", "+").array?.first?.array
      #expect(entry?.last?.pairs.first?.0 == "backlog")
    }
  }

  @Test func `the oldest waiting work is what nobody has taken yet`() async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.metrics.oldestWaitingMs() == 0)
      // An hour before the server's clock.
      let time = try await store.redis("TIME").array?.first?.integer ?? 0
      let id = "\((time - 3_600) * 1_000)-1"
      _ = try await store.redis("XADD", store.keys.jobs(.low), id, "job", "{}")
      let waitedMs = try await store.metrics.oldestWaitingMs()
      #expect((3_500_000...3_700_000).contains(waitedMs))
      _ = try await store.jobs.take(consumer: "w", max: 1)
      #expect(try await store.metrics.oldestWaitingMs() == 0)
    }
  }
}
