import Store
import Testing

@testable import Worker

@Suite struct LeaseKeeperTests {
  @Test("a run hears that its job was cancelled")
  func hearsOfCancel() async throws {
    try await LaneStage.with(leaseMs: 0) { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      _ = await parts.leases.turn()
      #expect(chunk.run.standing == .active)
      _ = try await parts.store.jobs.cancel(app: "shop", id: "sale")
      _ = await parts.leases.turn()
      #expect(chunk.run.standing == .cancelled)
    }
  }

  @Test("a run whose lease another worker has is stale")
  func hearsOfLoss() async throws {
    try await LaneStage.with(leaseMs: 0) { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      let taken = try await parts.store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1)
      #expect(taken.count == 1)
      _ = await parts.leases.turn()
      #expect(chunk.run.standing == .stale)
    }
  }

  @Test("a lease that was renewed just now is left alone")
  func leavesFresh() async throws {
    try await LaneStage.with { _, parts in
      let leases = LeaseKeeper(
        loop: parts.loop, chunks: parts.store.chunks, runs: parts.runs, consumer: "test-0",
        leaseMs: 3_600_000, log: parts.lines.logger,
        onStanding: { parts.sending.gate.apply($0, $1) })
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      _ = try await parts.store.jobs.cancel(app: "shop", id: "sale")
      chunk.noteRenewal()
      #expect(await leases.turn() == WorkerLimits.chunkBeatMs)
      #expect(chunk.run.standing == .active)
      await leases.renew([chunk])
      #expect(chunk.run.standing == .cancelled)
    }
  }
}
