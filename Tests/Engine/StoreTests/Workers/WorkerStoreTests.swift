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

  @Test func `those who have beaten of late are counted, and the first of them tell of themselves`()
    async throws
  {
    try await Lane.withStore { _, store in
      let now = try await store.workers.beat(worker: "w2", fields: [("lanes", "2")])
      for name in ["w1", "w3"] {
        _ = try await store.workers.beat(worker: name, fields: [("lanes", "1")])
      }
      _ = try await store.redis("ZADD", store.keys.workers, String(now - 60_000), "w0")
      var beating = try await store.workers.beating(sinceMs: now - 2_500, max: 2)
      #expect(beating.count == 3 && beating.read.map(\.worker) == ["w1", "w2"])
      #expect(beating.read.map { $0.fields["lanes"] } == ["1", "2"])
      // What somebody else has put in the place of one.
      _ = try await store.redis("DEL", store.keys.worker("w1"))
      _ = try await store.redis("SET", store.keys.worker("w1"), "x")
      beating = try await store.workers.beating(sinceMs: now - 2_500, max: 10)
      #expect(beating.count == 3 && beating.read.map(\.worker) == ["w2", "w3"])
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
