import Model
import Redis
import Testing

@testable import Store

/// Jobs that start several times, and read their audience anew each time.
@Suite struct RoundTests {
  private static func admission(_ rounds: [Int64]) -> Admission {
    var admission = Admission(
      app: "shop", id: "j1", digest: "d", content: Array("{}".utf8),
      audience: Admission.Audience(lines: .users, recipients: 0, segments: 0),
      timing: Admission.Timing(startAtMs: rounds[0]))
    admission.timing.roundsAtMs = rounds
    return admission
  }

  /// Admits a job to named users.
  private func admit(
    _ store: ShardStore, users: [[String]], rounds: [Int64], window: Int = 256
  ) async throws {
    let entry = try await store.takeNew()
    let segments = users.map { Array($0.map { $0 + "\n" }.joined().utf8) }
    #expect(try await store.jobs.upload(segments, first: 1, of: entry, consumer: "worker"))
    var admission = Self.admission(rounds)
    (admission.audience.recipients, admission.audience.segments) = (
      users.joined().count, segments.count
    )
    admission.audience.window = window
    #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
  }

  private func now(_ store: ShardStore) async throws -> Int64 {
    let time = try #require(try await store.redis("TIME").array)
    let seconds = try #require(Int64(time[0].string ?? ""))
    let microseconds = try #require(Int64(time[1].string ?? ""))
    return seconds * 1_000 + microseconds / 1_000
  }

  /// Lets the time of the job's next round come, and its work be moved on.
  private func come(_ store: ShardStore) async throws {
    let now = try await now(store)
    _ = try await store.redis(
      "HSET", "{pp}:job:shop:j1", "round_at", "\(now)", "start_at", "\(now)")
    try await store.hurry()
    _ = try await store.chunks.promote(max: 100)
  }

  /// Works off what there is; of each claim it accepts so many users and leaves the others out.
  private func work(
    _ store: ShardStore, accepting count: (ChunkClaim) -> Int = { $0.recipientList.count }
  ) async throws -> [ChunkClaim] {
    var claims: [ChunkClaim] = []
    while let claim = try await store.chunks.claim(consumer: "worker", max: 1).first {
      let users = claim.recipientList.count
      var settlement = Settlement.final(accepted: count(claim), users: count(claim))
      for _ in count(claim)..<users { settlement.leaveOut() }
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      claims.append(claim)
    }
    return claims
  }

  private static let later: Int64 = 3_600_000

  @Test("named users are kept for each round, which is told by its chunks, and gone after the last")
  func named() async throws {
    try await Lane.withStore { _, store in
      let at = try await now(store) + Self.later
      try await admit(store, users: [["a", "b"], ["c"]], rounds: [at, at + 1, at + 2])
      var record = try await store.record("j1")
      #expect(record.state == .scheduled && record.total == 3 && record.startAtMs == at)
      #expect(try await store.chunks.claim(consumer: "worker", max: 1).isEmpty)
      for round in 0..<3 {
        try await come(store)
        let claims = try await work(store) { _ in 1 }
        #expect(claims.map(\.round) == [round, round])
        #expect(Set(claims.flatMap(\.recipientList)) == ["a", "b", "c"])
        record = try await store.record("j1")
        #expect(record.counts.accepted == 2 * (round + 1) && record.isBalanced)
        #expect(record.total == 2 * (round + 1), "who is left out counts in no round")
        #expect(record.state == (round < 2 ? .running : .done))
      }
      #expect(try await store.segmentCount() == 0)
    }
  }

  @Test("between two rounds a job is open and sends nothing")
  func waits() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      try await admit(store, users: [["a"]], rounds: [now, now + Self.later])
      #expect(try await work(store).count == 1)
      for _ in 0..<3 {
        _ = try await store.chunks.promote(max: 100)
        #expect(try await store.chunks.claim(consumer: "worker", max: 1).isEmpty)
      }
      let due = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1", "WITHSCORES").array
      #expect(due?.count == 2 && due?.last?.string == "\(now + Self.later)")
      #expect(try await store.record("j1").state == .running)
    }
  }

  @Test("a topic is read anew in each round: who joined meanwhile is in the next one")
  func joins() async throws {
    try await Lane.withStore { _, store in
      let at = try await now(store) + Self.later
      try await store.subscribe(["a"])
      let entry = try await store.takeNew()
      var admission = Self.admission([at, at + 1])
      admission.audience.index = .topic("news")
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      try await come(store)
      #expect(try await work(store).flatMap(\.recipientList) == ["a"])
      try await store.subscribe(["b"])
      try await come(store)
      #expect(try await work(store).flatMap(\.recipientList) == ["a", "b"])
      let record = try await store.record("j1")
      #expect(record.state == .done && record.total == 3 && record.isBalanced)
    }
  }

  @Test("a key of users is read anew, and a round in which it is gone ends with a dead letter")
  func keys() async throws {
    try await Lane.withStore { _, store in
      let at = try await now(store) + Self.later
      _ = try await store.redis("SADD", "crowd", "a", "")
      let entry = try await store.takeNew()
      var admission = Self.admission([at, at + 1, at + 2, at + 3])
      admission.audience.usersKey = "crowd"
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      for _ in 0..<2 {
        try await come(store)
        #expect(try await work(store).flatMap(\.recipientList) == ["a"])
      }
      #expect(try await store.record("j1").counts.skipped == 1, "what is no user is told of once")
      _ = try await store.redis("DEL", "crowd")
      try await come(store)
      let record = try await store.record("j1")
      #expect(record.state == .running && record.isBalanced && record.counts.accepted == 2)
      let letters = try await store.deadLetters.list(max: 10)
      #expect(letters.map(\.reason) == ["users_key_gone"])
      _ = try await store.redis("SADD", "crowd", "b")
      // The next round comes up, and then comes.
      _ = try await store.chunks.promote(max: 100)
      try await come(store)
      #expect(try await work(store).flatMap(\.recipientList) == ["b"])
      #expect(try await store.record("j1").state == .done)
    }
  }

  @Test(
    "a round that has been read before all of it is started is not read again",
    arguments: ["crowd", nil])
  func startsWhatIsRead(key: String?) async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      let users = (1...300).map { "\($0)" }
      let entry: JobEntry
      var admission = Self.admission([now, now + Self.later])
      if let key {
        // Small numbers, which one read brings all at once.
        _ = try await store.redis(["SADD", key] + users)
        admission.audience.usersKey = key
      } else {
        try await store.subscribe(users)
        admission.audience.index = .topic("news")
      }
      entry = try await store.takeNew()
      admission.audience.window = 1
      #expect(try await store.jobs.admit(entry, admission, consumer: "worker") == .admitted)
      let claim = try await store.claimOne()
      _ = try await store.redis("HSET", "{pp}:job:shop:j1", "window", "256")
      let count = claim.recipientList.count
      _ = try await store.chunks.settle(
        claim, .final(accepted: count, users: count), consumer: "worker")
      _ = try await work(store)
      let record = try await store.record("j1")
      #expect(record.counts.accepted == 300 && record.total == 300)
      #expect(record.state == .running && record.roundAtMs == now + Self.later)
      #expect(try await store.deadLetters.list(max: 1).isEmpty)
    }
  }

  @Test("a job whose kept recipients are gone ends with a dead letter, and nothing of it stays")
  func losesKept() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      try await admit(store, users: [["a"], ["b"], ["c"]], rounds: [now, now + Self.later])
      _ = try await work(store)
      let kept = try await store.redis("KEYS", "*:segment:2:*").array?.compactMap(\.string) ?? []
      #expect(kept.count == 1)
      _ = try await store.redis(["DEL"] + kept)
      try await come(store)
      _ = try await work(store)
      let record = try await store.record("j1")
      #expect(record.state == .done && record.isBalanced)
      #expect(record.counts.accepted == 4 && record.counts.failed == 2)
      #expect(try await store.deadLetters.list(max: 9).map(\.reason) == ["segment_missing"])
      #expect(try await store.segmentCount() == 0)
    }
  }

  @Test("what is tried again, and a dead letter, stay in their round")
  func staysInRound() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      try await admit(store, users: [["a", "b"]], rounds: [now, now + Self.later])
      let first = try await store.claimOne()
      var settlement = Settlement.final(accepted: 1, users: 2)
      settlement.residuals = [.init(delayMs: 0, lines: Array("apns production t b 1 1\n".utf8))]
      _ = try await store.chunks.settle(first, settlement, consumer: "worker")
      let again = try await store.claimOne()
      #expect(again.isResidual && again.round == 0)
      _ = try await store.chunks.bury(again, reason: "test", message: "", consumer: "worker")
      let letter = try #require(try await store.deadLetters.list(max: 1).first)
      try await come(store)
      #expect(try await work(store).map(\.round) == [1])
      #expect(try await store.record("j1").state == .done)
      _ = try await store.deadLetters.retry(letter.entry)
      #expect(try await store.claimOne().round == 0)
    }
  }

  @Test("a job is cancelled between two rounds, and nothing of it is left")
  func cancels() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      try await admit(store, users: [["a"], ["b"]], rounds: [now, now + Self.later])
      _ = try await work(store)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      let record = try await store.record("j1")
      #expect(record.finishedAtMs != nil && record.isBalanced && record.counts.accepted == 2)
      #expect(try await store.segmentCount() == 0)
      #expect(try await store.redis("ZCARD", store.keys.delayed).integer == 0)
    }
  }

  @Test("a round whose time comes while the job is paused starts when it is resumed")
  func pauses() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      try await admit(store, users: [["a"]], rounds: [now, now + Self.later])
      _ = try await work(store)
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      try await come(store)
      #expect(try await work(store).isEmpty)
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      #expect(try await work(store).map(\.round) == [1])
    }
  }

  @Test("what waits for a round is found again when the delayed set is lost")
  func reconciles() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      try await admit(store, users: [["a"]], rounds: [now, now + Self.later])
      _ = try await work(store)
      _ = try await store.redis("DEL", store.keys.delayed)
      _ = try await store.jobs.reconcile(app: "shop", id: "j1")
      #expect(try await store.redis("ZCARD", store.keys.delayed).integer == 1)
      try await come(store)
      #expect(try await work(store).map(\.round) == [1])
      #expect(try await store.record("j1").state == .done)
    }
  }

  @Test("what a round has read is started before the next begins, whatever the window")
  func ordersRounds() async throws {
    try await Lane.withStore { _, store in
      let now = try await now(store)
      let users = (0..<6).map { ["u\($0)"] }
      try await admit(store, users: users, rounds: [now - 2, now - 1, now], window: 1)
      var claims: [ChunkClaim] = []
      for _ in 0..<40 {
        claims += try await work(store)
        try await come(store)
      }
      #expect(claims.map(\.round) == (0..<3).flatMap { Array(repeating: $0, count: 6) })
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 18 && record.isBalanced)
    }
  }
}
