import Model
import Redis
import Testing

@testable import Store

/// What dashboards add up is what the records say, however a recipient ends.
@Suite struct MetricsAgreementTests {
  /// The sums of all minutes, by outcome.
  private func metrics(_ store: ShardStore) async throws -> [String: Int] {
    var sums: [String: Int] = [:]
    for key in try await store.redis("KEYS", "{pp}:metrics:*").array ?? [] {
      for (name, count) in try await store.redis("HGETALL", key.string ?? "").pairs {
        let outcome = name.split(separator: "|").last.map { String($0) } ?? ""
        sums[outcome, default: 0] += Int(count) ?? 0
      }
    }
    return sums.filter { $0.value != 0 }
  }

  private func expectAgreement(_ store: ShardStore, _ job: String) async throws {
    let record = try await store.record(job)
    let ends = record.counts.fields.filter {
      $0.count != 0 && $0.name != "retries" && $0.name != "no_installations"
    }
    #expect(record.state.isFinal && record.isBalanced)
    let counted = try await metrics(store)
    #expect(counted == Dictionary(ends.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 }))
    var totals: [String: Int] = [:]
    for (name, count) in try await store.metrics.totals(max: .max).counts {
      totals[name.outcome, default: 0] += count
    }
    #expect(totals == counted)
  }

  @Test("skips by a cancel: in hand, waiting, parked and never started")
  func cancel() async throws {
    try await Lane.withStore { _, store in
      try await store.admit(
        "j1", users: [["a", "b"], ["c", "d"], ["e"], ["f", "g", "h"]], window: 3)
      var claim = try await store.claimOne()
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      try await store.chunks.handBack([claim], consumer: "worker")
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      _ = try await store.chunks.promote(max: 10)
      claim = try await store.claimOne()
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      _ = try await store.chunks.settle(
        claim, .final(skipped: claim.recipientList.count, users: claim.recipientList.count),
        consumer: "worker")
      #expect(try await store.chunks.claim(consumer: "worker", max: 8) == [])
      try await expectAgreement(store, "j1")
      #expect(try await store.record("j1").counts.skipped == 8)
    }
  }

  @Test(
    "a cancel counts the waiting installations under their networks, without those that are done")
  func networks() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b", "c"]])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 1)
      settlement.resolveUser(installations: 1)
      settlement.resolveUser(installations: 1)
      let lines =
        "apns\tproduction\taa\ta\t5\t1\nfcm\tproduction\tbb\tb\t6\t1\nfcm\tproduction\tcc\tc\t7\t1\n"
      settlement.residuals = [Settlement.Residual(delayMs: 0, lines: Array(lines.utf8))]
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      let residual = try await store.claimOne()
      var part = Settlement()
      part.done.insert(1)
      part.counts[.fcm, default: OutcomeCounts()].accepted = 1
      _ = try await store.chunks.settle(residual, part, consumer: "worker")
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      try await store.chunks.handBack([residual], consumer: "worker")
      try await expectAgreement(store, "j1")
      let key = try #require(
        try await store.redis("KEYS", "{pp}:metrics:*").array?.first?.string)
      let fields = Dictionary(
        try await store.redis("HGETALL", key).pairs, uniquingKeysWith: { $1 })
      #expect(
        fields == ["shop|apns|skipped": "1", "shop|fcm|skipped": "1", "shop|fcm|accepted": "1"])
    }
  }

  @Test("failures by lost content, by a lost stream and by a chunk that no worker could carry")
  func lost() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"], ["c"], ["d", "e"]])
      let claim = try await store.claimOne()
      #expect(
        try await store.chunks.bury(
          claim, reason: "content_missing", message: "It is gone.", consumer: "worker"))
      _ = try await store.redis("DEL", store.keys.segment("2", source: claim.source))
      let last = try await store.claimOne()
      _ = try await store.chunks.settle(last, .final(accepted: 2, users: 2), consumer: "worker")
      try await expectAgreement(store, "j1")
      #expect(try await store.record("j1").counts.failed == 3)
    }
  }

  @Test("users of a key that is gone, and members of a key that are no users")
  func audience() async throws {
    try await Lane.withStore { _, store in
      let users = (0..<2_000).map { "u\($0)" } + ["bad\u{1}member"]
      try await store.fill("crowd", .list, users.reversed())
      #expect(try await store.admit("j1", usersKey: "crowd", window: 1) == .admitted)
      _ = try await store.redis("DEL", "crowd")
      while let claim = try await store.chunks.claim(consumer: "w", max: 1).first {
        let count = claim.recipientList.count
        _ = try await store.chunks.settle(
          claim, .final(accepted: count, users: count), consumer: "w")
      }
      try await expectAgreement(store, "j1")
      #expect(try await store.record("j1").counts.failed > 0)
    }
  }
}
