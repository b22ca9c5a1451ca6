import Model
import Redis
import Testing

@testable import Store

/// A paced job whose few chunks are with workers, one of which may have died.
@Suite struct PacedFleetTests {
  /// Admits a job of so many chunks, of which two are worked on at a time, and has one worker take both.
  private static func start(_ store: ShardStore) async throws {
    let entry = try await store.takeNew("first-0")
    var admission = Admission(
      app: "shop", id: "j1", digest: "d", content: Array("{}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: 8, segments: 8, texts: (0..<8).map { Array("u\($0)\n".utf8) }))
    admission.timing.pace = .perSecond(100)
    #expect(try await store.jobs.admit(entry, admission, consumer: "first-0") == .admitted)
    for worker in ["first", "second"] {
      try await store.workers.beat(worker: worker, fields: [("lanes", "1")])
    }
    #expect(try await store.chunks.claim(consumer: "first-0", max: 5).count == 2)
    _ = try await store.jobs.drawPace(app: "shop", id: "j1", wanted: 1)
  }

  private static func fallSilent(_ worker: String, _ store: ShardStore) async throws {
    let seconds = try #require(try await store.redis("TIME").array?.first?.integer)
    _ = try await store.redis(
      "ZADD", store.keys.workers, "\((seconds - 3) * 1_000)", worker)
  }

  private static func drawNothing(_ store: ShardStore) async throws {
    let key = store.keys.pace(app: "shop", job: "j1")
    let at = try #require(Double(try await store.redis("HGET", key, "at").string ?? ""))
    _ = try await store.redis("HSET", key, "at", "\(at - 2_000)")
  }

  /// Looks whether the job stands still, as a promotion does each second.
  private static func look(_ store: ShardStore) async throws {
    let waiting = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array ?? []
    let look = try #require(waiting.first?.string, "nobody will look")
    _ = try await store.redis("ZADD", store.keys.delayed, "1", look)
    _ = try await store.chunks.promote(max: 10)
  }

  @Test(
    "a paced job goes on beside the chunks of a worker that has died, and only then",
    arguments: [(true, true), (true, false), (false, true), (false, false)])
  func goesOn(isSilent: Bool, standsStill: Bool) async throws {
    try await Lane.withStore { _, store in
      try await Self.start(store)
      #expect(try await store.chunks.claim(consumer: "second-0", max: 5) == [])
      if isSilent { try await Self.fallSilent("first", store) }
      if standsStill { try await Self.drawNothing(store) }
      try await Self.look(store)
      let more = try await store.chunks.claim(consumer: "second-0", max: 5)
      #expect(more.map(\.segment) == (isSilent && standsStill ? ["3", "4"] : []))
      try await Self.look(store)
    }
  }

  @Test("who goes on with a paced job gets one chunk after the other while the lost ones wait")
  func keepsGoing() async throws {
    try await Lane.withStore { _, store in
      try await Self.start(store)
      try await Self.fallSilent("first", store)
      try await Self.drawNothing(store)
      try await Self.look(store)
      var segments: [String] = []
      while let claim = try await store.chunks.claim(consumer: "second-0", max: 1).first {
        segments.append(claim.segment)
        _ = try await store.chunks.settle(
          claim, .final(accepted: 1, users: 1), consumer: "second-0")
      }
      #expect(segments == ["3", "4", "5", "6", "7", "8"])
      // As after a while in which one of them always was there.
      _ = try await store.redis("DEL", store.keys.workersSince)
      for claim in try await store.chunks.reclaim(consumer: "second-0", leaseMs: 0, max: 5) {
        _ = try await store.chunks.settle(
          claim, .final(accepted: 1, users: 1), consumer: "second-0")
      }
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 8 && record.isBalanced)
    }
  }
}
