import Model
import Testing

@testable import Store

@Suite struct LingeringChunkTests {
  private static var waiting: Settlement {
    var settlement = Settlement()
    settlement.onlyWaits = true
    return settlement
  }

  @Test(
    "a job goes on beside a chunk that only waits for answers, whatever else the worker tells of it",
    arguments: [true, false])
  func goesOn(hasNews: Bool) async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"], ["c"], ["d"]], window: 1)
      let first = try await store.claimOne()
      #expect(try await store.chunks.claim(consumer: "worker", max: 5) == [])
      var settlement = Self.waiting
      if hasNews {
        settlement.done.insert(0)
        settlement.resolveUser(installations: 1)
        settlement.counts = [.apns: counts(accepted: 1)]
      }
      let answer = try await store.chunks.settle(first, settlement, consumer: "worker")
      #expect(answer.standing == .ok)
      let second = try await store.claimOne()
      #expect(second.segment == "2")
      #expect(
        try await store.chunks.claim(consumer: "worker", max: 5) == [],
        "one chunk waits, and one is sent")
      for (claim, accepted) in [(second, 1), (first, hasNews ? 1 : 2)] {
        _ = try await store.chunks.settle(
          claim, .final(accepted: accepted, users: accepted), consumer: "worker")
      }
      let third = try await store.claimOne()
      _ = try await store.chunks.settle(third, .final(accepted: 1, users: 1), consumer: "worker")
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 4 && record.isBalanced)
    }
  }

  @Test("what is told of a chunk that is another worker's moves no job on")
  func movesNobodyElses() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"]], window: 1)
      let claim = try await store.claimOne("slow")
      _ = try await store.chunks.reclaim(consumer: "fast", leaseMs: 0, max: 1)
      let answer = try await store.chunks.settle(claim, Self.waiting, consumer: "slow")
      #expect(answer.standing == .stale)
      #expect(try await store.chunks.claim(consumer: "fast", max: 5) == [])
    }
  }
}
