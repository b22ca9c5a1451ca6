import Model
import Redis
import Testing

@testable import Store

@Suite struct ChunkQueueTests {
  @Test func `chunks are claimed once, high before normal`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("bulk", users: [["a"], ["b"]])
      try await store.admit("urgent", users: [["c"]], priority: .high)
      let first = try await store.chunks.claim(consumer: "w1", max: 2)
      let second = try await store.chunks.claim(consumer: "w2", max: 2)
      #expect(first.map(\.recipientList) == [["c"], ["a"]])
      #expect(second.map(\.recipientList) == [["b"]])
      #expect(first[0].job == "urgent" && first[0].app == "shop" && first[0].lines == .users)
    }
  }

  @Test
  func `what a consumer was given without knowing comes back to it alone, and no crash is counted`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("bulk", users: [["a"], ["b"], ["c"]], window: 3)
      try await store.admit("urgent", users: [["d"]], priority: .high)
      let known = try await store.chunks.claim(consumer: "w1", max: 2)
      #expect(try await store.chunks.claim(consumer: "w2", max: 1).count == 1)
      _ = try await store.chunks.claim(consumer: "w1", max: 1)
      let found = try await store.chunks.claimUnanswered(consumer: "w1", max: 4, inHand: known)
      #expect(found.map(\.recipientList) == [["c"]] && found[0].crashes == 0)
      #expect(
        try await store.chunks.claimUnanswered(consumer: "w1", max: 4, inHand: known + found)
          .isEmpty)
      #expect(
        try await store.chunks.claimUnanswered(consumer: "w1", max: 2, inHand: []).count == 2)
      #expect(
        try await store.chunks.settle(found[0], .final(accepted: 1, users: 1), consumer: "w1")
          .standing != .stale)
    }
  }

  @Test func `a job starts the next chunk when one is finished, never more than its window`()
    async throws
  {
    try await Lane.withStore { _, store in
      let users = (0..<7).map { ["u\($0)"] }
      try await store.admit("j1", users: users, window: 2)
      var seen: [String] = []
      while true {
        let status = try await store.backlog.status()
        #expect(status.chunks[.normal]! <= 2)
        let claims = try await store.chunks.claim(consumer: "w", max: 1)
        guard let claim = claims.first else { break }
        seen += claim.recipientList
        _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
      }
      #expect(seen == users.joined().map { $0 })
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 7 && record.isBalanced)
      #expect(
        try await store.redis("TTL", store.keys.job(app: "shop", id: "j1")).integer! > 600_000)
    }
  }

  @Test func `users turn into installations, and those without any are counted apart`() async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["two", "none", "one"]])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.done.insert(0)
      settlement.done.insert(1)
      settlement.resolveUser(installations: 2)
      settlement.resolveUser(installations: 0)
      settlement.counts = [.apns: counts(accepted: 1), .fcm: counts(rejected: 1)]
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      var record = try await store.record("j1")
      #expect(record.total == 3 && record.pending == 1 && record.isBalanced)
      #expect(record.counts.noInstallations == 1)
      _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "worker")
      record = try await store.record("j1")
      #expect(record.state == .done && record.total == 3 && record.pending == 0)
      #expect(record.counts.accepted == 2 && record.counts.rejected == 1 && record.isBalanced)
      // A minute may end between the two.
      var metrics: [String: Int] = [:]
      let minutes = try await store.redis("KEYS", "*:metrics:*").array?.compactMap(\.string) ?? []
      for minute in minutes {
        metrics.merge(try await store.metrics.minute(String(minute.suffix(12)))) { $0 + $1 }
      }
      #expect(metrics["shop|fcm|rejected"] == 1 && metrics["shop|apns|accepted"] == 2)
      let seconds = Int64(try #require(try await store.redis("TIME").array?.first?.integer))
      let latest = try #require(minutes.max())
      #expect(
        (0...10).contains { latest.hasSuffix(Minute.name(epochSeconds: seconds - 60 * $0)) })
    }
  }

  @Test func `a settlement that is repeated after a lost reply is counted once`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      let claim = try await store.claimOne()
      var partial = Settlement()
      partial.done.insert(0)
      partial.resolveUser(installations: 1)
      partial.counts = [.apns: counts(accepted: 1)]
      for _ in 0..<3 {
        let answer = try await store.chunks.settle(claim, partial, consumer: "worker")
        #expect(answer.standing == .ok)
      }
      #expect(try await store.record("j1").counts.accepted == 1)
      let final = Settlement.final(accepted: 1, users: 1)
      #expect(try await store.chunks.settle(claim, final, consumer: "worker").standing == .ok)
      #expect(try await store.chunks.settle(claim, final, consumer: "worker").standing == .stale)
      let record = try await store.record("j1")
      #expect(record.counts.accepted == 2 && record.state == .done && record.isBalanced)
      #expect(try await store.redis("XLEN", store.keys.finished) == .integer(1))
    }
  }

  @Test func `a worker that lost its lease can settle nothing`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne("slow")
      #expect(try await store.chunks.reclaim(consumer: "fast", leaseMs: 60_000, max: 5) == [])
      let taken = try await store.chunks.reclaim(consumer: "fast", leaseMs: 0, max: 5)
      #expect(taken.map(\.crashes) == [1])
      #expect(taken.map(\.entry) == [claim.entry])
      var settlement = Settlement.final(accepted: 1, users: 1)
      #expect(try await store.chunks.settle(claim, settlement, consumer: "slow").standing == .stale)
      settlement.isFinal = false
      settlement.done.insert(0)
      #expect(try await store.chunks.settle(claim, settlement, consumer: "slow").standing == .stale)
      #expect(try await store.chunks.handBack([claim], consumer: "slow") == 0)
      #expect(try await store.chunks.heartbeat([claim], consumer: "slow") == [.stale])
      let record = try await store.record("j1")
      #expect(record.pending == 1 && record.counts.accepted == 0)
      #expect(try await store.chunks.heartbeat(taken, consumer: "fast") == [.ok])
    }
  }

  @Test func `heartbeats and settlements keep a lease young`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      for renew in [true, false] {
        let stream = store.keys.chunks(.normal)
        _ = try await store.redis(
          "XCLAIM", stream, "workers", "worker", "0", claim.entry, "IDLE", "500000", "JUSTID")
        if renew {
          _ = try await store.chunks.heartbeat([claim], consumer: "worker")
        } else {
          _ = try await store.chunks.settle(claim, Settlement(), consumer: "worker")
        }
        #expect(try await store.chunks.reclaim(consumer: "other", leaseMs: 400_000, max: 1) == [])
      }
    }
  }

  @Test func `one search finds an abandoned chunk behind a long list of live ones`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: (0..<60).map { ["u\($0)"] })
      let claims = try await store.chunks.claim(consumer: "live", max: 60)
      #expect(claims.count == 60)
      let stream = store.keys.chunks(.normal)
      _ = try await store.redis(
        "XCLAIM", stream, "workers", "dead", "0", claims[59].entry, "IDLE", "500000", "JUSTID")
      let found = try await store.chunks.reclaim(consumer: "new", leaseMs: 400_000, max: 1)
      #expect(found.map(\.entry) == [claims[59].entry])
    }
  }

  @Test func `a residual waits for its time and stays pending until it is settled`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["two"]])
      let claim = try await store.claimOne()
      let line = Array("apns\tproduction\taa\ttwo\t5\t1\n".utf8)
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 2)
      settlement.counts = [.apns: counts(accepted: 1)]
      settlement.residuals = [Settlement.Residual(delayMs: 3_600_000, lines: line)]
      settlement.retries = 1
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      var record = try await store.record("j1")
      #expect(record.state == .running && record.total == 2 && record.pending == 1)
      #expect(record.counts.retries == 1 && record.isBalanced)

      let early = try await store.chunks.promote(max: 10)
      #expect(early.taken == 0)
      #expect((3_590_000...3_600_000).contains(try #require(early.nextDueMs)))
      let member = try #require(
        try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array?.first?.string)
      _ = try await store.redis("ZADD", store.keys.delayed, "1", member)
      let due = try await store.chunks.promote(max: 10)
      #expect(due.taken == 1 && due.nextDueMs == nil)

      let residual = try await store.claimOne()
      #expect(residual.lines == .installations && residual.recipients == line)
      var last = Settlement()
      last.isFinal = true
      last.counts = [.apns: counts(failed: 1)]
      _ = try await store.chunks.settle(residual, last, consumer: "worker")
      record = try await store.record("j1")
      #expect(record.state == .done && record.counts.failed == 1 && record.counts.accepted == 1)
      #expect(record.isBalanced && record.pending == 0)
      #expect(try await store.allKeys().filter { $0.contains(":segment:") } == [])
    }
  }

  @Test func `an invalid token counts as uninstalled, one that was installed anew as rejected`()
    async throws
  {
    try await Lane.withStore { _, store in
      for token in ["aa", "bb"] { try await store.install("u", token) }
      let old = try #require(try await store.binding("bb")).generation
      try await store.install("u", "bb")
      try await store.admit("j1", users: [["u"]])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 2)
      for (token, generation) in [
        ("aa", try #require(try await store.binding("aa")).generation), ("bb", old),
      ] {
        settlement.invalidations.append(
          Settlement.Invalidation(
            network: .apns, token: token, user: "u", generation: generation, sinceMs: nil,
            reason: "Unregistered"))
      }
      let answer = try await store.chunks.settle(claim, settlement, consumer: "worker")
      #expect(
        answer
          == SettleAnswer(
            standing: .ok, uninstalled: 1, kept: 1, fates: [.removed, .kept]))
      let record = try await store.record("j1")
      #expect(record.counts.uninstalled == 1 && record.counts.rejected == 1)
      #expect(record.total == 2 && record.isBalanced && record.state == .done)
      #expect(try await store.tokens(of: "u") == ["bb"])
    }
  }

  @Test func `a chunk handed back goes to others with its progress and without a crash`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      let claim = try await store.claimOne()
      var partial = Settlement()
      partial.done.insert(1)
      partial.resolveUser(installations: 1)
      partial.counts = [.apns: counts(accepted: 1)]
      _ = try await store.chunks.settle(claim, partial, consumer: "worker")
      #expect(try await store.chunks.handBack([claim], consumer: "worker") == 1)
      #expect(try await store.chunks.handBack([claim], consumer: "worker") == 0)
      let again = try await store.claimOne("other")
      #expect(again.done == partial.done && again.crashes == 0 && again.entry != claim.entry)
      #expect(try await store.chunks.handBack([again], consumer: "other", delayMs: 60_000) == 1)
      #expect(try await store.chunks.claim(consumer: "other", max: 1) == [])
      #expect(try await store.backlog.status().delayed == 1)
    }
  }

  @Test func `nobody takes chunks over before all could renew their leases after a silence of all`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne("frozen")
      // The first beat after a time without any: Redis may have stood still, or refused.
      _ = try await store.workers.beat(worker: "alive", fields: [])
      #expect(try await store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1) == [])
      _ = try await store.redis("SET", store.keys.workersSince, "1")
      let found = try await store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1)
      #expect(found.map(\.entry) == [claim.entry])
      // Nobody beats: whose lease would be over then?
      _ = try await store.redis("ZADD", store.keys.workers, "1", "alive")
      #expect(try await store.chunks.reclaim(consumer: "third", leaseMs: 0, max: 1) == [])
    }
  }

  @Test func `a chunk that a living worker never heard of has crashed nobody`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne("alive-0")
      func age() async throws {
        _ = try await store.redis(
          "XCLAIM", store.keys.chunks(.normal), "workers", "alive-0", "0", claim.entry, "IDLE",
          "9000",
          "JUSTID")
      }
      for _ in 0..<10 {
        try await store.workers.beat(worker: "alive", fields: [])
        _ = try await store.redis("SET", store.keys.workersSince, "1")
        try await age()
        let taken = try await store.chunks.reclaim(consumer: "alive-0", leaseMs: 5_000, max: 1)
        #expect(taken.map(\.crashes) == [0])
      }
      try await store.workers.beat(worker: "other", fields: [])
      try await store.workers.forget(worker: "alive")
      try await age()
      let taken = try await store.chunks.reclaim(consumer: "alive-0", leaseMs: 5_000, max: 1)
      #expect(taken.map(\.crashes) == [1])
    }
  }

  @Test func `a chunk that crashed five workers is a dead letter, the rest of the job goes on`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b", "c"], ["d"]], window: 1)
      let (_, partial) = try await claimAndSettleFirst(store)
      for crash in 1...4 {
        let taken = try await store.chunks.reclaim(consumer: "w\(crash)", leaseMs: 0, max: 1)
        #expect(taken.map(\.crashes) == [crash])
      }
      #expect(try await store.chunks.reclaim(consumer: "w5", leaseMs: 0, max: 1) == [])
      var record = try await store.record("j1")
      #expect(record.counts.failed == 2 && record.pending == 1 && record.isBalanced)
      let next = try await store.claimOne()
      #expect(next.recipientList == ["d"])
      _ = try await store.chunks.settle(next, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(try await store.record("j1").state == .done)

      let letter = try #require(try await store.deadLetters.list(max: 5).first)
      #expect(letter.kind == "chunk" && letter.reason == "crashed_workers" && letter.count == 2)
      #expect(try await store.deadLetters.retry(letter.entry) == .retried(entry: nil))
      #expect(try await store.deadLetters.retry(letter.entry) == .absent)
      record = try await store.record("j1")
      #expect(record.state == .running && record.pending == 2 && record.isBalanced)
      let retried = try await store.claimOne()
      #expect(retried.recipientList == ["a", "b", "c"] && retried.done == partial.done)
      _ = try await store.chunks.settle(retried, .final(accepted: 2, users: 2), consumer: "worker")
      record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 4 && record.counts.failed == 0)
      #expect(record.isBalanced)
    }
  }

  @Test func `a buried chunk fails its open recipients once, and only its owner can bury it`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b", "c"], ["d"]], window: 1)
      let (claim, _) = try await claimAndSettleFirst(store)
      func bury(_ claim: ChunkClaim, _ consumer: String) async throws -> Bool {
        try await store.chunks.bury(
          claim, reason: "content_missing", message: "Gone", consumer: consumer)
      }
      #expect(try await bury(claim, "w1") == false)
      #expect(try await store.record("j1").counts.failed == 0)
      #expect(try await bury(claim, "w0"))
      // The reply was lost and it is said again.
      #expect(try await bury(claim, "w0") == false)
      var record = try await store.record("j1")
      #expect(record.counts.failed == 2 && record.pending == 1 && record.isBalanced)
      let letter = try #require(try await store.deadLetters.list(max: 5).first)
      #expect(letter.reason == "content_missing" && letter.message == "Gone" && letter.count == 2)

      // A cancelled job's chunk is skipped as ever, and no dead letter.
      let next = try await store.claimOne("w0")
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      #expect(try await bury(next, "w0"))
      record = try await store.record("j1")
      #expect(record.counts.failed == 2 && record.counts.skipped == 1 && record.isBalanced)
      #expect(try await store.deadLetters.list(max: 5).count == 1)
    }
  }

  @Test func `a settlement repeated after a lost reply is counted once`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["u1", "u2"]])
      let claim = try await store.claimOne()
      var news = Settlement()
      news.done.insert(0)
      news.counts[.apns, default: OutcomeCounts()].accepted = 1
      for _ in 0..<2 {
        let answer = try await store.chunks.settle(claim, news, consumer: "worker")
        #expect(answer.standing == .ok)
      }
      let record = try await store.record("j1")
      #expect(record.counts.accepted == 1)
      #expect(record.pending == 1 && record.isBalanced)
    }
  }

  /// Claims a chunk for "w0" and settles its first recipient as accepted.
  private func claimAndSettleFirst(_ store: ShardStore) async throws -> (ChunkClaim, Settlement) {
    let claim = try await store.claimOne("w0")
    var partial = Settlement()
    partial.done.insert(0)
    partial.resolveUser(installations: 1)
    partial.counts = [.apns: counts(accepted: 1)]
    _ = try await store.chunks.settle(claim, partial, consumer: "w0")
    return (claim, partial)
  }
}
