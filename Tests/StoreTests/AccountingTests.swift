import Model
import Redis
import Testing

@testable import Store

/// Random workers that crash, lose leases, hand back and repeat themselves; in the end every installation has
/// exactly one outcome and Redis holds nothing of the work.
@Suite struct AccountingTests {
  @Test(arguments: [11, 12, 13, 14, 15, 16])
  func `every installation ends in exactly one outcome, whatever happens on the way`(seed: UInt64)
    async throws
  {
    try await Lane.withStore { _, store in
      var random = SeededGenerator(seed: seed)
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
      let status = try await store.metrics.status()
      #expect(status.backlog == 0, "seed \(seed)")
    }
  }
}

private struct RandomWorker {
  let store: Store
  let installations: [String: Int]
  var held: [(claim: ChunkClaim, consumer: String, done: DoneBitmap)] = []
  var accepted = 0
  var consumers = 0

  mutating func step(_ random: inout SeededGenerator) async throws {
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

  private mutating func settle(_ random: inout SeededGenerator) async throws {
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
