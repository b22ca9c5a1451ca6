import LocalServices
import Model
import Redis
import Testing

@testable import Store

/// Random workers that crash, lose leases, hand back and repeat themselves; in the end every installation has
/// exactly one outcome and Redis holds nothing of the work.
@Suite struct AccountingTests {
  @Test func `a residual whose recipients Redis has lost ends with its job, as an alarm`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 1)
      let line = Array("apns\tproduction\taa\ta\t5\t1\n".utf8)
      settlement.residuals = [Settlement.Residual(delayMs: 0, lines: line)]
      let claim = try await store.claimOne()
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      _ = try await store.redis("DEL", store.keys.segment("r1", source: claim.source))
      #expect(try await store.chunks.claim(consumer: "worker", max: 1) == [])
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.failed == 1 && record.isBalanced)
      let letter = try #require(try await store.deadLetters.list(max: 5).first)
      #expect(letter.reason == "segment_missing")
    }
  }

  @Test func `what a former owner knows is counted no second time when the chunk comes back to it`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      let frozen = try await store.claimOne("frozen")
      let other = try await store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1)
      var news = Settlement()
      news.told = DoneBitmap()
      news.done.insert(0)
      news.counts[.apns, default: OutcomeCounts()].accepted = 1
      news.resolveUser(installations: 1)
      #expect(
        try await store.chunks.settle(other[0], news, consumer: "other").standing == .ok)
      // The other is lost, too; the first one wakes up, and its own search gives the chunk back to it.
      let back = try await store.chunks.reclaim(consumer: "frozen", leaseMs: 0, max: 1)
      #expect(back.map(\.entry) == [frozen.entry])
      news.done.insert(1)
      news.counts[.apns, default: OutcomeCounts()].accepted = 2
      news.resolveUser(installations: 1)
      for isFinal in [false, true] {
        news.isFinal = isFinal
        let answer = try await store.chunks.settle(frozen, news, consumer: "frozen")
        #expect(answer.standing == .stale)
      }
      let record = try await store.record("j1")
      #expect(record.counts.accepted == 1 && record.pending == 1 && record.isBalanced)
    }
  }

  @Test
  func
    `two owners who leave different devices of a user open do not take each other's for their own`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      let frozen = try await store.claimOne("frozen")
      let other = try await store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1)
      // Of the user's two devices both have answered the other worker, and one the frozen one.
      var whole = Settlement()
      whole.told = DoneBitmap()
      whole.done.insert(0)
      whole.resolveUser(installations: 2)
      var partial = whole
      whole.counts[.apns, default: OutcomeCounts()].accepted = 2
      partial.counts[.apns, default: OutcomeCounts()].accepted = 1
      partial.stillOpen = Array("apns\tproduction\ttoken\ta\t1\t0\n".utf8)
      #expect(
        try await store.chunks.settle(other[0], whole, consumer: "other").standing == .ok)
      // The chunk comes back to the one that was frozen.
      _ = try await store.chunks.reclaim(consumer: "frozen", leaseMs: 0, max: 1)
      let answer = try await store.chunks.settle(frozen, partial, consumer: "frozen")
      #expect(answer.standing == .stale)
      let record = try await store.record("j1")
      #expect(record.counts.accepted == 2 && record.pending == 1 && record.isBalanced)
    }
  }

  @Test(
    "no count is negative when somebody deletes a chunk's progress, and an alarm says so",
    arguments: [false, true])
  func lostProgress(isCancelled: Bool) async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      let first = try await store.claimOne("first")
      var news = Settlement()
      news.told = DoneBitmap()
      news.done.insert(0)
      news.counts[.apns, default: OutcomeCounts()].accepted = 1
      news.resolveUser(installations: 1)
      #expect(try await store.chunks.settle(first, news, consumer: "first").standing == .ok)
      _ = try await store.redis("DEL", store.keys.done(first.segment, source: first.source))
      if isCancelled { _ = try await store.jobs.cancel(app: "shop", id: "j1") }
      // All of its recipients are sent to again, or are skipped.
      let others = try await store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1)
      #expect(others.count == (isCancelled ? 0 : 1))
      for claim in others {
        _ = try await store.chunks.settle(
          claim, .final(accepted: 2, users: 2), consumer: "other")
      }
      let record = try await store.record("j1")
      #expect(record.state == (isCancelled ? .cancelled : .done))
      #expect(record.counts.accepted == (isCancelled ? 1 : 3))
      #expect(record.counts.skipped == (isCancelled ? 2 : 0))
      #expect(record.counts.failed == 0 && record.pending == 0)
      #expect(record.total == 3 && record.isBalanced)
      let twice = try await store.redis(
        "HGET", store.keys.job(app: "shop", id: "j1"), "counted_twice")
      #expect(twice.integer == 1)
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(alarm.field == "lost_work|shop")
      #expect(alarm.message.contains("job j1 lost the progress of a chunk"))
    }
  }

  @Test(
    "a job that older functions left with less than nothing pending ends with no negative count")
  func negativePending() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      let key = store.keys.job(app: "shop", id: "j1")
      _ = try await store.redis("HINCRBY", key, "accepted", "3")
      _ = try await store.redis("HINCRBY", key, "pending", "-3")
      _ = try await store.redis("DEL", store.keys.segment(claim.segment, source: claim.source))
      #expect(
        try await store.chunks.bury(claim, reason: "test", message: "m", consumer: "worker"))
      let record = try await store.record("j1")
      #expect(record.counts.failed == 0 && record.counts.accepted == 3)
      #expect(record.total == 3 && record.pending == 0 && record.isBalanced)
    }
  }

  @Test func `a job that crashed its admissions can be retried under its reserved name`()
    async throws
  {
    try await Lane.withStore { _, store in
      let first = try await store.takeNew()
      #expect(
        try await store.jobs.reserve(
          first, app: "shop", id: "j1", digest: "d", consumer: "worker") == .new)
      for _ in 0..<5 {
        _ = try await store.jobs.take(consumer: "worker", max: 1, abandonedForMs: 0)
      }
      let letter = try #require(try await store.deadLetters.list(max: 5).first)
      #expect(letter.reason == "crashed_workers")
      _ = try await store.deadLetters.retry(letter.entry)
      let again = try #require(try await store.jobs.take(consumer: "worker", max: 1).first)
      let admission = Admission(
        app: "shop", id: "j1", digest: "d", content: [0x7b, 0x7d],
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [Array("a\n".utf8)]))
      #expect(
        try await store.jobs.reserve(
          again, app: "shop", id: "j1", digest: "d", consumer: "worker") == .new)
      #expect(try await store.jobs.admit(again, admission, consumer: "worker") == .admitted)
      #expect(try await store.claimOne().recipientList == ["a"])
    }
  }

  @Test(arguments: [11, 12, 13, 14, 15, 16])
  func `every installation ends in exactly one outcome, whatever happens on the way`(seed: UInt64)
    async throws
  {
    try await Lane.withStore { _, store in
      var random = SeededDice(seed: seed)
      let users = (0..<60).map { "u\($0)" }
      let segments = stride(from: 0, to: 60, by: 5).map { Array(users[$0..<($0 + 5)]) }
      // u0 has none, u1 one, u2 two, and so on.
      let installations = Dictionary(
        uniqueKeysWithValues: users.enumerated().map { ($1, $0 % 3) })
      try await store.admit("j1", users: segments, window: 3)
      var worker = RandomWorker(store: store, installations: installations)
      for _ in 0..<3_000 {
        if try await store.record("j1").state == .done { break }
        try await worker.step(&random)
        #expect(try await store.record("j1").isBalanced, "seed \(seed)")
      }
      let record = try await store.record("j1")
      #expect(record.state == .done, "seed \(seed)")
      #expect(record.pending == 0 && record.isBalanced)
      #expect(record.total == installations.values.reduce(0, +), "seed \(seed)")
      #expect(record.counts.noInstallations == 20, "seed \(seed)")
      #expect(record.counts.accepted == record.total - record.counts.failed)
      // What a worker believes counted is what is counted.
      #expect(record.counts.accepted == worker.accepted, "seed \(seed)")
      let left = try await store.allKeys().filter {
        $0.contains(":segment:") || $0.contains(":done:") || $0.contains(":parked:")
      }
      #expect(left == [], "seed \(seed)")
      let discrepancy = try await store.redis(
        "HGET", store.keys.job(app: "shop", id: "j1"), "discrepancy")
      #expect(discrepancy.isNull, "seed \(seed)")
      let status = try await store.backlog.status()
      #expect(status.backlog == 0, "seed \(seed)")
    }
  }
}

private struct RandomWorker {
  let store: ShardStore
  let installations: [String: Int]
  var held: [(claim: ChunkClaim, consumer: String, done: DoneBitmap)] = []
  var accepted = 0
  var consumers = 0

  mutating func step(_ random: inout SeededDice) async throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2:
      consumers += 1
      let consumer = "w\(consumers)"
      for claim in try await store.chunks.claim(consumer: consumer, max: 2) {
        held.append((claim, consumer, claim.done))
      }
    case 3:
      // Everybody who holds something now is a zombie, some will settle all the same.
      consumers += 1
      let consumer = "w\(consumers)"
      if consumers % 4 == 0 {
        for claim in try await store.chunks.reclaim(consumer: consumer, leaseMs: 0, max: 2) {
          held.append((claim, consumer, claim.done))
        }
      }
      _ = try await store.chunks.promote(max: 2)
    case 4:
      guard let index = held.indices.randomElement(using: &random) else { return }
      let one = held.remove(at: index)
      _ = try await store.chunks.handBack([one.claim], consumer: one.consumer)
    case 5:
      if Bool.random(using: &random) {
        _ = try await store.jobs.pause(app: "shop", id: "j1")
      } else {
        _ = try await store.jobs.resume(app: "shop", id: "j1")
      }
    default: try await settle(&random)
    }
    if try await store.record("j1").state == .paused, Bool.random(using: &random) {
      _ = try await store.jobs.resume(app: "shop", id: "j1")
    }
  }

  private mutating func settle(_ random: inout SeededDice) async throws {
    guard let index = held.indices.randomElement(using: &random) else { return }
    let (claim, consumer, done) = held[index]
    var settlement = Settlement()
    settlement.done = done
    settlement.isFinal = Bool.random(using: &random)
    var reached = OutcomeCounts()
    var residual: [UInt8] = []
    for (line, recipient) in claim.recipientList.enumerated() where !done.contains(line) {
      guard settlement.isFinal || Bool.random(using: &random) else { continue }
      settlement.done.insert(line)
      var count = 1
      if claim.lines == .users {
        count = installations[recipient]!
        settlement.resolveUser(installations: count)
      }
      for _ in 0..<count {
        if Int.random(in: 0..<4, using: &random) == 0 {
          residual += Array("apns\tproduction\taa\tu\t1\t1\n".utf8)
        } else {
          reached.accepted += 1
        }
      }
    }
    settlement.counts = [.apns: reached]
    if !residual.isEmpty {
      settlement.residuals = [Settlement.Residual(delayMs: 0, lines: residual)]
    }
    let answer = try await store.chunks.settle(claim, settlement, consumer: consumer)
    if Bool.random(using: &random) {
      _ = try await store.chunks.settle(claim, settlement, consumer: consumer)
    }
    if answer.standing != .stale { accepted += reached.accepted }
    if answer.standing == .stale || settlement.isFinal {
      held.remove(at: index)
    } else {
      held[index].done = settlement.done
    }
  }
}
