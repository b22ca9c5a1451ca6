import Model
import Redis
import Testing

@testable import Store

@Suite struct ReconcileTests {
  @Test func `lost work of a job with a start time still waits for it`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"]], startAtMs: 4_000_000_000_000)
      _ = try await store.redis("DEL", store.keys.delayed)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      #expect(try await store.record("j1").state == .scheduled)
      #expect(try await store.chunks.promote(max: 10).taken == 0)
      #expect(try await store.chunks.claim(consumer: "w", max: 1) == [])
      let due = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1", "WITHSCORES")
      let words = (due.array ?? []).compactMap(\.string)
      #expect(words.count == 4 && words[1] == "4000000000000" && words[3] == "4000000000000")
    }
  }

  @Test func `work whose stream was deleted is found and sent, once each`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"], ["c"], ["d"]], window: 2)
      let claim = try await store.claimOne()
      var partial = Settlement()
      partial.done.insert(0)
      partial.resolveUser(installations: 1)
      partial.counts = [.apns: counts(accepted: 1)]
      _ = try await store.chunks.settle(claim, partial, consumer: "worker")
      _ = try await store.redis("DEL", store.keys.chunks(.normal))
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      #expect(try await store.alarms.current(nowMs: 0).map(\.field) == ["lost_work|shop"])
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      var sent: [String] = []
      while let claim = try await store.chunks.claim(consumer: "w", max: 1).first {
        let open = claim.recipientList.enumerated().filter { !claim.done.contains($0.offset) }
        sent += open.map(\.element)
        _ = try await store.chunks.settle(
          claim, .final(accepted: open.count, users: open.count), consumer: "w")
      }
      #expect(sent == ["b", "c", "d"])
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 4 && record.isBalanced)
    }
  }

  @Test(arguments: [false, true])
  func `a job is open again when its lane tells of a chunk that was lost with the open jobs`(
    settles: Bool
  ) async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      _ = try await store.redis("DEL", store.keys.chunks(.normal), store.keys.open)
      if settles {
        let answer = try await store.chunks.settle(
          claim, .final(accepted: 1, users: 1), consumer: "worker")
        #expect(answer.standing == .stale)
      } else {
        #expect(try await store.chunks.heartbeat([claim], consumer: "worker") == [.stale])
      }
      #expect(try await store.redis("SMEMBERS", store.keys.open).array?.count == 1)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      let again = try await store.chunks.claim(consumer: "w", max: 1)
      _ = try await store.chunks.settle(
        try #require(again.first), .final(accepted: 1, users: 1), consumer: "w")
      // What is no record keeps no other chunk's lease from being renewed.
      _ = try await store.redis("RENAME", "{pp}:job:shop:j1", "{pp}:aside")
      _ = try await store.redis("SET", "{pp}:job:shop:j1", "x")
      #expect(try await store.chunks.heartbeat([claim], consumer: "worker") == [.stale])
      _ = try await store.redis("RENAME", "{pp}:aside", "{pp}:job:shop:j1")
      // One that is over stays out.
      #expect(try await store.chunks.heartbeat([claim], consumer: "worker") == [.stale])
      #expect(try await store.redis("EXISTS", store.keys.open) == .integer(0))
    }
  }

  @Test func `chunks that were a deleted consumer's go to others`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"], ["c"]], window: 3)
      _ = try await store.chunks.claim(consumer: "gone", max: 2)
      _ = try await store.redis(
        "XGROUP", "DELCONSUMER", store.keys.chunks(.normal), "workers", "gone")
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      #expect(try await store.alarms.current(nowMs: 0).map(\.field) == ["lost_work|shop"])
      let claims = try await store.chunks.claim(consumer: "w", max: 5)
      #expect(Set(claims.map { $0.recipientList.joined() }) == ["a", "b", "c"])
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
    }
  }

  @Test func `a deleted delayed set loses no residual`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 1)
      let line = Array("apns\tproduction\taa\ta\t1\t1\n".utf8)
      settlement.residuals = [Settlement.Residual(delayMs: 60_000, lines: line)]
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      _ = try await store.redis("DEL", store.keys.delayed)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      let found = try await store.claimOne()
      #expect(found.recipients == line && found.lines == .installations)
    }
  }

  @Test func `a healthy job is sound wherever its chunks are`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"], ["c"]])
      let claims = try await store.chunks.claim(consumer: "w", max: 2)
      _ = try await store.chunks.handBack([claims[0]], consumer: "w", delayMs: 60_000)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      _ = try await store.jobs.pause(app: "shop", id: "j1")
      _ = try await store.chunks.handBack([claims[1]], consumer: "w")
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
    }
  }

  @Test func `open jobs are listed until they are finished`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("a:b", users: [["a"]])
      try await store.admit("empty", users: [])
      var open = try await store.jobs.openJobs(cursor: "0")
      #expect(open.cursor == "0")
      #expect(open.jobs.map(\.id) == ["a:b"] && open.jobs.map(\.app) == ["shop"])
      let claim = try await store.claimOne()
      _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "worker")
      open = try await store.jobs.openJobs(cursor: "0")
      #expect(open.jobs.isEmpty)
      #expect(try await store.jobs.reconcile(app: "shop", id: "a:b") == .absent)
    }
  }

  @Test func `each of many open jobs has its turn to be looked at, again and again`() async throws {
    try await Lane.withStore { _, store in
      for number in 0..<300 { try await store.admit("j\(number)", users: [["u"]]) }
      var scan = OpenJobScan(jobs: store.jobs)
      var turns: [String: Int] = [:]
      for _ in 0..<30 {
        let jobs = try await scan.next(32)
        #expect(jobs.count <= 32)
        for job in jobs { turns[job.id, default: 0] += 1 }
      }
      #expect(turns.count == 300)
      #expect(turns.values.max()! <= 2 * turns.values.min()!)
    }
  }
}
