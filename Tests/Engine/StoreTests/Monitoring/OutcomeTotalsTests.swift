import Model
import Redis
import Testing

@testable import Store

/// The counts that never fall.
@Suite struct OutcomeTotalsTests {
  private static let accepted = OutcomeTotals.Name(app: "shop", network: .apns, outcome: "accepted")

  private func settle(_ store: ShardStore, job: String, users: [String]) async throws {
    try await store.admit(job, users: [users])
    let claim = try await store.claimOne()
    let settlement = Settlement.final(accepted: users.count, users: users.count)
    let answer = try await store.chunks.settle(claim, settlement, consumer: "worker")
    #expect(answer.standing == .ok)
  }

  @Test("they add up over jobs and minutes, and say since when")
  func addUp() async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.metrics.totals(max: .max) == OutcomeTotals())
      let beforeMs = try await store.serverSeconds() * 1_000
      try await settle(store, job: "j1", users: ["a", "b"])
      let first = try await store.metrics.totals(max: .max)
      #expect(first.counts == [Self.accepted: 2] && first.isWhole)
      #expect(try #require(first.sinceMs) >= beforeMs)
      // The minute is over, and two days later gone.
      for key in try await store.redis("KEYS", "{pp}:metrics:*").array ?? [] {
        _ = try await store.redis("DEL", key.string ?? "")
      }
      try await settle(store, job: "j2", users: ["c"])
      let second = try await store.metrics.totals(max: .max)
      #expect(second.counts == [Self.accepted: 3] && second.sinceMs == first.sinceMs)
    }
  }

  @Test("what is told again is counted once")
  func countsOnce() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      let claim = try await store.claimOne()
      var part = Settlement()
      part.done.insert(0)
      part.resolveUser(installations: 1)
      part.counts[.apns, default: OutcomeCounts()].accepted = 1
      for _ in 0..<3 { _ = try await store.chunks.settle(claim, part, consumer: "worker") }
      #expect(try await store.metrics.totals(max: .max).counts == [Self.accepted: 1])
      // Neither is what somebody tells who has lost the chunk.
      _ = try await store.chunks.settle(claim, .final(accepted: 2, users: 2), consumer: "other")
      #expect(try await store.metrics.totals(max: .max).counts == [Self.accepted: 1])
    }
  }

  /// To count in the totals as well costs no command more: a minute is given its end once for each count.
  @Test("a settlement of one outcome counts twice, and sets no end of a minute that has one")
  func costsNoMore() async throws {
    try await Lane.withStore { _, store in
      func calls(_ command: String) async throws -> Int {
        let info = try await store.redis("INFO", "commandstats").string ?? ""
        let start = "cmdstat_\(command):calls="
        let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix(start) }
        return line.flatMap { Int($0.dropFirst(start.count).prefix { $0.isNumber }) } ?? 0
      }
      func minute() async throws -> Int64 { try await store.serverSeconds() / 60 }
      for attempt in 1... {
        // A new minute has new counts.
        let begun = try await minute()
        try await settle(store, job: "before-\(attempt)", users: ["a"])
        try await store.admit("job-\(attempt)", users: [["b", "c"]])
        let claim = try await store.claimOne()
        var part = Settlement()
        part.done.insert(0)
        part.resolveUser(installations: 1)
        part.counts[.apns, default: OutcomeCounts()].accepted = 1
        let (ends, counts) = (try await calls("expire"), try await calls("hincrby"))
        _ = try await store.chunks.settle(claim, part, consumer: "worker")
        let (newEnds, newCounts) = (try await calls("expire"), try await calls("hincrby"))
        _ = try await store.chunks.settle(
          claim, .final(accepted: 1, users: 1), consumer: "worker")
        guard try await minute() == begun else { continue }
        #expect(newEnds == ends)
        // Three of the record: accepted, total and pending.
        #expect(newCounts - counts == 5)
        break
      }
      for key in (try await store.redis("KEYS", "{pp}:metrics:*").array ?? []).compactMap(\.string)
      {
        #expect(try #require(try await store.redis("TTL", key).integer) > 170_000)
      }
    }
  }

  @Test("what is taken back is taken from the minute alone")
  func neverFalls() async throws {
    try await Lane.withStore { _, store in
      try await settle(store, job: "j1", users: ["a", "b"])
      // A record by which more ended than there were.
      try await store.admit("j2", users: [["c"]])
      let claim = try await store.claimOne()
      _ = try await store.redis(
        "HINCRBY", store.keys.job(app: "shop", id: "j2"), "pending", "-3")
      _ = try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "worker")
      let failed = OutcomeTotals.Name(app: "shop", network: nil, outcome: "failed")
      let totals = try await store.metrics.totals(max: .max)
      #expect(totals.counts == [Self.accepted: 3] && totals.counts[failed] == nil)
    }
  }

  @Test("an older version that counts minutes alone leaves the totals as they are")
  func besideOlder() async throws {
    try await Lane.withStore { _, store in
      let sound = StoreLibrary.library
      let part = "if n > 0 and redis.pcall('HINCRBY', totals, name, by) == n then"
      let parts = sound.source.split(separator: part, omittingEmptySubsequences: false)
      try #require(parts.count == 2)
      // The functions of a version before, beside those of this one.
      let older = FunctionLibrary(
        name: "pushpool", version: "0ldver5",
        template: parts.joined(separator: "if false then")
          .replacing(sound.version, with: "@VERSION@"))
      _ = try await store.redis("FUNCTION", "LOAD", older.source)
      try await settle(store, job: "j1", users: ["a"])
      try await store.admit("j2", users: [["b"]])
      let claim = try await store.claimOne()
      var command = RedisCommand("FCALL", "pushpool_settle_0ldver5", "1", store.keys.prefix)
      Settlement.final(accepted: 1, users: 1).sections(of: claim, consumer: "worker")
        .append(to: &command)
      #expect(try await store.connection.call(command).array?.first?.string == "OK")
      #expect(try await store.record("j2").counts.accepted == 1)
      #expect(try await store.metrics.totals(max: .max).counts == [Self.accepted: 1])
      try await settle(store, job: "j3", users: ["c"])
      #expect(try await store.metrics.totals(max: .max).counts == [Self.accepted: 2])
    }
  }

  @Test("they are read to the end, however many there are, and what is no count is passed over")
  func readsAll() async throws {
    try await Lane.withStore { _, store in
      try await settle(store, job: "j1", users: ["a"])
      for first in stride(from: 0, to: 5_000, by: 500) {
        let fields = (first..<first + 500).flatMap { ["app-\($0)|fcm|accepted", String($0 + 1)] }
        _ = try await store.redis(["HSET", store.keys.totals] + fields)
      }
      _ = try await store.redis(
        "HSET", store.keys.totals, "shop|sms|accepted", "5", "a b|apns|accepted", "5",
        "shop|apns|no word", "5", "shop|apns", "5", "shop|apns|failed", "many",
        "shop|apns|expired", "-5")
      let all = try await store.metrics.totals(max: .max)
      #expect(all.counts.count == 5_001 && all.isWhole)
      let last = OutcomeTotals.Name(app: "app-4999", network: .fcm, outcome: "accepted")
      #expect(all.counts[last] == 5_000)
      let some = try await store.metrics.totals(max: 1_500)
      #expect(some.counts.count >= 1_500 && some.counts.count < 4_000 && !some.isWhole)
    }
  }

  @Test("a count is looked for by its name, not among all others")
  func staysQuick() async throws {
    try await Lane.withStore { _, store in
      try await settle(store, job: "j1", users: ["a"])
      let encoding = try await store.redis("OBJECT", "ENCODING", store.keys.totals).string
      #expect(encoding == "hashtable")
    }
  }

  @Test("what each open job has left is read of those that are there")
  func standings() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]], priority: .high)
      try await store.admit("j2", users: [["c"]])
      #expect(try await store.jobs.pause(app: "shop", id: "j2") == .paused)
      _ = try await store.redis("SET", store.keys.job(app: "shop", id: "j3"), "x")
      let found = try await store.jobs.standings(
        ["j1", "j2", "j3", "j4"].map { (app: "shop", id: $0) })
      #expect(found.map(\.id) == ["j1", "j2"] && found.map(\.pending) == [2, 1])
      #expect(found.map(\.state) == [.running, .paused])
      #expect(found.map(\.priority) == [.high, .normal])
      #expect(found.map { $0.isSending(atMs: 1) } == [true, false])
    }
  }
}
