import Model
import Redis
import Testing

@testable import Store

@Suite struct WorkerStoreTests {
  @Test func `workers beat, are listed, and leave`() async throws {
    try await Lane.withStore { _, store in
      let now = try await store.workers.beat(worker: "w1", fields: [("host", "a"), ("lanes", "2")])
      #expect(now > 1_700_000_000_000)
      let workers = try await store.workers.all()
      #expect(
        workers == [
          WorkerStatus(worker: "w1", lastBeatMs: now, fields: ["host": "a", "lanes": "2"])
        ])
      try await store.workers.forget(worker: "w1")
      try await store.workers.forget(worker: "w1")
      #expect(try await store.workers.all() == [])
      #expect(try await store.allKeys() == [])
    }
  }

  @Test func `a consumer with leases is never removed`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne("holder")
      // Redis 7.2 and later also knows the consumer in the streams where it found nothing.
      #expect(try await store.workers.sweepConsumers(named: "holder") <= 1)
      #expect(try await store.chunks.heartbeat([claim], consumer: "holder") == [.ok])
      _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "holder")
      #expect(try await store.workers.sweepConsumers(named: "holder") == 1)
      #expect(try await store.workers.sweepConsumers(idleMs: 3_600_000) == 0)
      #expect(try await store.workers.sweepConsumers(idleMs: 0) > 0)
    }
  }
}
