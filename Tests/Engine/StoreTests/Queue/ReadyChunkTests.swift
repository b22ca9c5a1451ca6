import LocalServices
import Model
import Redis
import Testing

@testable import Store

/// Delayed chunks that are due and have no room in their stream yet.
@Suite struct ReadyChunkTests {
  /// Gives an app so many chunks that are due, in jobs j0, j1… of 1,000 at most.
  private func fill(
    _ store: ShardStore, _ app: String, _ count: Int, _ priority: Priority, at dueMs: Int = 1
  ) async throws {
    for first in stride(from: 0, to: count, by: 1_000) {
      let users = (first..<min(first + 1_000, count)).map { ["\(app)\($0)"] }
      let job = "j\(first / 1_000)"
      try await store.admit(
        job, users: users, window: users.count, priority: priority, app: app,
        startAtMs: 4_000_000_000_000)
      _ = try await store.redis("HSET", store.keys.job(app: app, id: job), "start_at", "1")
    }
    let script = """
      for _, m in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], 4000000000000, '+inf')) do
        redis.call('ZADD', KEYS[1], ARGV[1], m)
      end
      """
    _ = try await store.redis("EVAL", script, "1", store.keys.delayed, "\(dueMs)")
  }

  /// Commands that Redis has run since its start, those inside of functions included.
  private func commands(_ store: ShardStore) async throws -> Int {
    let information = try await store.redis("INFO", "commandstats").string ?? ""
    return information.split(separator: "calls=").dropFirst().reduce(0) { sum, part in
      sum + (Int(part.prefix { $0.isNumber }) ?? 0)
    }
  }

  @Test func `10,000 due chunks without room cost ten workers a few commands a look`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await fill(store, "bulk", 10_000, .low)
      var taken = 0
      for _ in 0..<160 { taken += try await store.chunks.promote(max: 64, as: "w0").taken }
      #expect(taken == 64, "as many as may wait in a stream")
      let before = try await commands(store)
      for round in 0..<100 {
        let answer = try await store.chunks.promote(max: 64, as: "w\(round % 10)")
        #expect(answer.taken == 0)
        if round % 10 > 0 { #expect((1...600).contains(try #require(answer.nextDueMs))) }
      }
      let spent = try await commands(store) - before
      #expect(spent <= 100 * 6, "\(spent) commands")
    }
  }

  @Test func `another app's high-priority chunk comes past 10,000 of low priority`() async throws {
    try await Lane.withStore { _, store in
      try await fill(store, "bulk", 10_000, .low)
      try await fill(store, "shop", 1, .high, at: 2)
      var looks = 0
      while try await store.backlog.status().chunks[.high] != 1 {
        _ = try await store.chunks.promote(max: 64, as: "w0")
        looks += 1
        try #require(looks < 200, "at 1 ms a look")
      }
      // Now that those are in line, nothing is before the next one.
      try await fill(store, "news", 1, .high, at: 1)
      _ = try await store.chunks.promote(max: 64, as: "w0")
      #expect(try await store.backlog.status().chunks[.high] == 2)
    }
  }

  @Test func `apps of a priority have their turns, however much one of them has to do`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await fill(store, "bulk", 1_000, .normal)
      for number in 0..<40 { try await fill(store, "app\(number)", 2, .normal, at: 2) }
      for _ in 0..<17 { _ = try await store.chunks.promote(max: 64, as: "w0") }
      var others: Set<String> = []
      var claimed = 0
      while others.count < 40 {
        for claim in try await store.chunks.claim(consumer: "w", max: 4) {
          claimed += 1
          if claim.app != "bulk" { others.insert(claim.app) }
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
        try #require(claimed < 200, "\(others.count) of 40")
      }
    }
  }

  @Test func `a claim moves up what is due, though nobody promotes`() async throws {
    try await Lane.withStore { _, store in
      try await fill(store, "bulk", 300, .normal)
      for _ in 0..<5 { _ = try await store.chunks.promote(max: 64) }
      var claimed = 0
      while true {
        let claims = try await store.chunks.claim(consumer: "w", max: 4)
        if claims.isEmpty { break }
        claimed += claims.count
        for claim in claims {
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
      }
      #expect(claimed == 300)
      #expect(try await store.allKeys().filter { $0.contains(":ready:") } == [])
      #expect(try await store.record("j0", app: "bulk").state == .done)
    }
  }

  @Test func `one worker promotes, and another when it comes no more`() async throws {
    try await Lane.withStore { _, store in
      try await fill(store, "bulk", 3, .normal)
      #expect(try await store.chunks.promote(max: 1, as: "w1").taken == 1)
      #expect(try await store.chunks.promote(max: 1, as: "w2").taken == 0)
      #expect(try await store.chunks.promote(max: 1, as: "w1").taken == 1)
      // As when it has passed.
      _ = try await store.redis("DEL", store.keys.promoter)
      #expect(try await store.chunks.promote(max: 1, as: "w2").taken == 1)
      #expect(try await store.chunks.promote(max: 1, as: "w1").taken == 0)
    }
  }

  @Test func `a chunk that was cancelled while it stood in line ends once`() async throws {
    try await Lane.withStore { _, store in
      try await fill(store, "bulk", 200, .normal)
      for _ in 0..<4 { _ = try await store.chunks.promote(max: 64) }
      let claim = try await store.claimOne()
      #expect(try await store.jobs.cancel(app: "bulk", id: "j0") == .cancelled)
      // What stood in the stream makes room, and what stands in line for it is gone.
      #expect(try await store.chunks.claim(consumer: "w", max: 100) == [])
      for _ in 0..<10 { _ = try await store.chunks.promote(max: 64) }
      #expect(try await store.backlog.status().chunks[.normal] == 1)
      #expect(try await store.record("j0", app: "bulk").finishedAtMs == nil)
      _ = try await store.chunks.settle(claim, .final(skipped: 1, users: 1), consumer: "worker")
      let record = try await store.record("j0", app: "bulk")
      #expect(record.counts.skipped == 200 && record.isBalanced && record.finishedAtMs != nil)
      #expect(try await store.allKeys().filter { $0.contains(":ready:") } == [])
    }
  }

  @Test func `what waits for room is lost or sent twice by nothing that is done to its order`()
    async throws
  {
    try await Lane.withStore { _, store in
      for (app, priority) in [("a", Priority.low), ("b", .normal), ("c", .normal)] {
        try await fill(store, app, 200, priority)
      }
      var dice = SeededDice(seed: 7)
      var claimed: [String] = []
      var rounds = 0
      while claimed.count < 600 {
        rounds += 1
        try #require(rounds < 20_000, "\(claimed.count) of 600")
        _ = try await store.chunks.promote(max: 1 + dice.below(64))
        switch dice.below(12) {
        case 0: _ = try await store.redis("DEL", store.keys.readyApps(.normal))
        case 1: _ = try await store.redis("DEL", store.keys.ready(.normal, app: "b"))
        case 2: try await store.hurry()
        case 3:
          // A worker of an old version, which knows the delayed set only.
          let due = try await store.redis("ZRANGE", store.keys.delayed, "0", "0").array ?? []
          for member in due.compactMap(\.string) {
            _ = try await store.redis("ZREM", store.keys.delayed, member)
            _ = try await store.redis("ZADD", store.keys.delayed, "3", member)
          }
        default: break
        }
        for claim in try await store.chunks.claim(consumer: "w", max: 1 + dice.below(8)) {
          claimed += claim.recipientList
          _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "w")
        }
      }
      #expect(Set(claimed).count == 600)
      #expect(try await store.backlog.status().delayed == 0)
      for app in ["a", "b", "c"] {
        #expect(try await store.record("j0", app: app).counts.accepted == 200)
      }
    }
  }
}
