import Model
import Redis
import Testing

@testable import Store

/// Jobs whose users are the members of a key.
@Suite struct UsersKeyTests {
  enum Kind: String, CaseIterable, Sendable {
    case set, zset, list
  }

  @Test(arguments: Kind.allCases)
  func `each of 20,000 users in a key is sent to once, in full chunks, within the window`(
    kind: Kind
  ) async throws {
    try await Lane.withStore { _, store in
      let users = (0..<20_000).map { "user-\($0)" }
      try await store.fill("crowd", kind, users)
      #expect(try await store.admit("j1", usersKey: "crowd", window: 8) == .admitted)
      let first = try await store.record("j1")
      #expect(first.total == 20_000 && first.pending == 20_000 && first.isBalanced)
      #expect(try await store.segmentCount() <= 8, "the first call is short")
      var seen: [String] = []
      var chunks = 0
      while let claim = try await store.chunks.claim(consumer: "w", max: 1).first {
        let list = claim.recipientList
        #expect(list.count <= Limits.chunkRecipientsMax)
        chunks += 1
        seen += list
        _ = try await store.chunks.settle(
          claim, .final(accepted: list.count, users: list.count), consumer: "w")
        #expect(try await store.backlog.status().chunks[.normal]! <= 8)
        #expect(try await store.segmentCount() <= 16)
        let record = try await store.record("j1")
        #expect(record.isBalanced && record.total == 20_000)
        #expect(record.counts.accepted == seen.count)
      }
      #expect(seen.count == 20_000)
      #expect(Set(seen) == Set(users))
      #expect(chunks <= 85, "chunks are well filled")
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 20_000 && record.pending == 0)
      #expect(try await store.redis("XLEN", store.keys.finished) == .integer(1))
      #expect(try await store.segmentCount() == 0)
      #expect(try await store.discrepancy("j1") == nil)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a small key is a job of one chunk, and its end is the job's`(kind: Kind) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", kind, ["a", "b", "c"])
      #expect(try await store.admit("j1", usersKey: "crowd") == .admitted)
      let claim = try await store.claimOne()
      #expect(claim.recipientList.sorted() == ["a", "b", "c"])
      _ = try await store.chunks.settle(claim, .final(accepted: 3, users: 3), consumer: "worker")
      #expect(try await store.record("j1").state == .done)
    }
  }

  @Test func `a set of numbers in its compact encoding is cut into chunks`() async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, (0..<500).map { "\($0)" })
      #expect(try await store.redis("OBJECT", "ENCODING", "crowd").string == "intset")
      #expect(try await store.admit("j1", usersKey: "crowd", window: 1) == .admitted)
      #expect(try await store.finish("j1").sorted() == (0..<500).map { "\($0)" }.sorted())
      _ = try await store.redis("CONFIG", "SET", "set-max-intset-entries", "100000")
      try await store.fill("large", .set, (0..<3_000).map { "\($0)" })
      #expect(try await store.admit("j2", usersKey: "large") == .keyEncoding)
      _ = try await store.redis("CONFIG", "SET", "zset-max-listpack-entries", "100000")
      try await store.fill("ranked", .zset, (0..<3_000).map { "\($0)" })
      #expect(try await store.admit("j3", usersKey: "ranked") == .keyEncoding)
    }
  }

  @Test func `members that are no users are skipped, repeated ones count once`() async throws {
    try await Lane.withStore { _, store in
      let long = String(repeating: "x", count: Limits.userBytesMax)
      let good = ["a", "é", "日本", "👍", "a b", long, "u\u{A0}"]
      let bad = ["", "a\nb", "a\u{0}", "\u{7F}", "\u{85}", long + "x"]
      try await store.fill("crowd", .list, good + bad + ["a", "é"])
      let invalid =
        #"return redis.call('RPUSH', KEYS[1], '\255', 'a\195', '\237\160\128', '\192\128')"#
      _ = try await store.redis("EVAL", invalid, "1", "crowd")
      #expect(try await store.admit("j1", usersKey: "crowd") == .admitted)
      let record = try await store.record("j1")
      #expect(record.isBalanced && record.counts.skipped == bad.count + 4)
      #expect(record.total == good.count + bad.count + 4 && record.pending == good.count)
      #expect(try await store.finish("j1") == good)
      let end = try await store.record("j1")
      #expect(end.state == .done && end.isBalanced && end.counts.accepted == good.count)
    }
  }

  @Test func `a key of nothing but bad members ends its job, however many they are`() async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, (0..<10_000).map { "\($0)\n" })
      #expect(try await store.admit("j1", usersKey: "crowd") == .admitted)
      var record = try await store.record("j1")
      #expect(record.state == .running && record.isBalanced)
      #expect(record.counts.skipped >= 500 && record.counts.skipped < 600)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      _ = try await store.redis("DEL", store.keys.delayed)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      while try await store.chunks.promote(max: 10).taken > 0 {
        #expect(try await store.record("j1").isBalanced)
      }
      record = try await store.record("j1")
      #expect(record.state == .done && record.counts.skipped == 10_000 && record.pending == 0)
    }
  }

  @Test func `a key that is missing or of another type is refused and leaves nothing`() async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await store.admit("j1", usersKey: "nothing") == .keyMissing)
      _ = try await store.redis("HSET", "hash", "a", "b")
      #expect(try await store.admit("j2", usersKey: "hash") == .keyType)
      #expect(try await store.jobs.record(app: "shop", id: "j1") == nil)
      #expect(try await store.jobs.record(app: "shop", id: "j2") == nil)
      try await store.fill("crowd", .set, ["a"])
      _ = try await store.redis("ACL", "SETUSER", "default", "-sscan")
      #expect(try await store.admit("j3", usersKey: "crowd") == .keyUnreadable)
      #expect(try await store.jobs.record(app: "shop", id: "j3") == nil)
      #expect(try await store.backlog.status().jobs[.normal] == 3, "to be refused")
    }
  }

  @Test func `cancelling in the middle frees everything and counts the rest as skipped`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .zset, (0..<5_000).map { "u\($0)" })
      try await store.admit("j1", usersKey: "crowd", window: 3)
      let claim = try await store.claimOne()
      _ = try await store.chunks.settle(
        claim, .final(accepted: claim.recipientList.count, users: claim.recipientList.count),
        consumer: "worker")
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      #expect(try await store.chunks.claim(consumer: "worker", max: 5) == [])
      let record = try await store.record("j1")
      #expect(record.state == .cancelled && record.isBalanced && record.finishedAtMs != nil)
      #expect(
        record.counts.accepted == claim.recipientList.count
          && record.counts.skipped == 5_000 - record.counts.accepted)
      #expect(try await store.segmentCount() == 0)
      #expect(try await store.discrepancy("j1") == nil)
    }
  }

  @Test func `a job that is paused before it begins or in the middle reads on when it is resumed`()
    async throws
  {
    try await Lane.withStore { _, store in
      let users = (0..<3_000).map { "u\($0)" }
      try await store.fill("crowd", .set, users)
      try await store.admit("j1", usersKey: "crowd", window: 2)
      var sent: [String] = []
      for _ in 0..<3 {
        _ = try await store.jobs.pause(app: "shop", id: "j1")
        #expect(try await store.chunks.claim(consumer: "worker", max: 9) == [])
        #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
        #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
        while try await store.chunks.promote(max: 10).taken > 0 {}
        let claim = try await store.claimOne()
        sent += claim.recipientList
        _ = try await store.chunks.settle(
          claim, .final(accepted: claim.recipientList.count, users: claim.recipientList.count),
          consumer: "worker")
      }
      sent += try await store.finish("j1")
      #expect(sent.sorted() == users.sorted())
      #expect(try await store.record("j1").state == .done)
    }
  }

  @Test(arguments: [true, false])
  func `when the key goes in the middle, those not read are failed and a dead letter says so`(
    isReplaced: Bool
  ) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .list, (0..<5_000).map { "u\($0)" })
      try await store.admit("j1", usersKey: "crowd", window: 2)
      _ = try await store.redis("DEL", "crowd")
      if isReplaced { _ = try await store.redis("SET", "crowd", "x") }
      var lost = 0
      while let claim = try await store.chunks.claim(consumer: "w", max: 1).first {
        let count = claim.recipientList.count
        lost += try await store.chunks.settle(
          claim, .final(accepted: count, users: count), consumer: "w"
        ).lost
        #expect(try await store.record("j1").isBalanced)
      }
      let record = try await store.record("j1")
      #expect(record.state == .done && record.isBalanced && record.total == 5_000)
      #expect(record.counts.accepted == 250 && record.counts.failed == 4_750)
      #expect(lost == 4_750)
      #expect(try await store.discrepancy("j1") == nil)
      let letter = try #require(try await store.deadLetters.list(max: 10).first)
      #expect(letter.reason == "users_key_gone" && letter.field == "/audience/users_key")
      #expect(letter.id == "j1" && letter.count == 4_750)
      #expect(try await store.deadLetters.retry(letter.entry) == .gone)
    }
  }

  @Test func `a key that shrinks or grows while its job runs changes the total at the end`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .list, (0..<3_000).map { "u\($0)" })
      try await store.admit("shrinks", usersKey: "crowd", window: 2)
      _ = try await store.redis("LTRIM", "crowd", "0", "1499")
      #expect(try await store.record("shrinks").total == 3_000)
      #expect(try await store.finish("shrinks").count == 1_500)
      var record = try await store.record("shrinks")
      #expect(record.state == .done && record.total == 1_500 && record.isBalanced)
      try await store.admit("grows", usersKey: "crowd", window: 2)
      try await store.fill("crowd", .list, (1_500..<4_000).map { "u\($0)" })
      #expect(try await store.finish("grows").count == 4_000)
      record = try await store.record("grows")
      #expect(record.state == .done && record.total == 4_000 && record.isBalanced)
      for id in ["shrinks", "grows"] { #expect(try await store.discrepancy(id) == nil) }
    }
  }

  @Test func `a reconciliation finds chunks of a half-read key that a deleted stream has lost`()
    async throws
  {
    try await Lane.withStore { _, store in
      let users = (0..<3_000).map { "u\($0)" }
      try await store.fill("crowd", .set, users)
      try await store.admit("j1", usersKey: "crowd", window: 6)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      _ = try await store.redis("DEL", store.keys.chunks(.normal))
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      #expect(try await store.finish("j1").sorted() == users.sorted())
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 3_000 && record.isBalanced)
    }
  }

  @Test func `a scheduled job's key is read when it starts`() async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, ["a", "b", "early"])
      let now = Int64(try #require(try await store.redis("TIME").array?.first?.integer)) * 1_000
      try await store.admit("j1", usersKey: "crowd", startAtMs: now + 3_600_000)
      #expect(try await store.segmentCount() == 0)
      _ = try await store.redis("SREM", "crowd", "early")
      try await store.fill("crowd", .set, ["late"])
      // Meanwhile it is paused and goes on, and a worker looks after it.
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .scheduled)
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      #expect(try await store.chunks.promote(max: 100).taken == 0)
      _ = try await store.redis(
        "HSET", store.keys.job(app: "shop", id: "j1"), "start_at", String(now))
      try await store.hurry()
      #expect(try await store.finish("j1").sorted() == ["a", "b", "late"])
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 3 && record.isBalanced)
      #expect(record.startedAtMs != nil)
    }
  }

  @Test func `a scheduled job of a key that was paused over its start begins when it goes on`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, ["a", "b"])
      let now = Int64(try #require(try await store.redis("TIME").array?.first?.integer)) * 1_000
      try await store.admit("j1", usersKey: "crowd", startAtMs: now + 3_600_000)
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      _ = try await store.redis(
        "HSET", store.keys.job(app: "shop", id: "j1"), "start_at", String(now))
      try await store.hurry()
      _ = try await store.chunks.promote(max: 100)
      #expect(try await store.chunks.claim(consumer: "w", max: 1) == [])
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      #expect(try await store.finish("j1").sorted() == ["a", "b"])
    }
  }

  @Test func `a scheduled job of a key waits, and can be cancelled before`() async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, (0..<2_000).map { "u\($0)" })
      try await store.admit("j1", usersKey: "crowd", startAtMs: 4_000_000_000_000)
      #expect(try await store.record("j1").state == .scheduled)
      #expect(try await store.chunks.promote(max: 100).taken == 0)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      let record = try await store.record("j1")
      #expect(record.counts.skipped == 2_000 && record.finishedAtMs != nil && record.isBalanced)
      #expect(try await store.backlog.status().delayed == 0)
      #expect(try await store.segmentCount() == 0)
    }
  }
}

extension ShardStore {
  /// Adds members to a key, in this order where it has one.
  func fill(_ key: String, _ kind: UsersKeyTests.Kind, _ members: [String]) async throws {
    let name = ["set": "SADD", "zset": "ZADD", "list": "RPUSH"][kind.rawValue]!
    for first in stride(from: 0, to: members.count, by: 1_000) {
      var command = RedisCommand(name, key)
      for index in first..<min(first + 1_000, members.count) {
        if kind == .zset { command.append(index) }
        command.append(members[index])
      }
      _ = try await connection.call(command)
    }
  }

  @discardableResult
  func admit(
    _ id: String, usersKey: String, window: Int = 256, startAtMs: Int64? = nil
  ) async throws -> AdmissionAnswer {
    let entry = try await takeNew()
    let admission = Admission(
      app: "shop", id: id, digest: "digest", content: Array("{}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: 0, segments: 0, window: window, usersKey: usersKey),
      timing: Admission.Timing(startAtMs: startAtMs))
    return try await jobs.admit(entry, admission, consumer: "worker")
  }

  /// Works until nothing is left; every user has one installation. - Returns: the users in their order.
  func finish(_ id: String) async throws -> [String] {
    var sent: [String] = []
    while true {
      let moved = try await chunks.promote(max: 100).taken
      guard let claim = try await chunks.claim(consumer: "w", max: 1).first else {
        if moved == 0 { return sent }
        continue
      }
      let list = claim.recipientList
      sent += list
      _ = try await chunks.settle(
        claim, .final(accepted: list.count, users: list.count), consumer: "w")
      #expect(try await record(id).isBalanced)
    }
  }

  func segmentCount() async throws -> Int {
    try await allKeys().count { $0.contains(":segment:") }
  }

  func discrepancy(_ id: String) async throws -> String? {
    try await redis("HGET", keys.job(app: "shop", id: id), "discrepancy").string
  }
}
