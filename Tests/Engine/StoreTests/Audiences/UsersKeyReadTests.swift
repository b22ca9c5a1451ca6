import Model
import Redis
import Testing

@testable import Store

/// How much of a key of users one call reads, while everybody else waits for Redis.
@Suite struct UsersKeyReadTests {
  /// SSCAN and ZSCAN end with a whole bucket.
  private static let bucketMax = 32

  @Test(arguments: UsersKeyTests.Kind.allCases)
  func `no call reads more than 250 members`(kind: UsersKeyTests.Kind) async throws {
    try await Lane.withStore { _, store in
      let count = 20_000
      try await store.fill("crowd", kind, (0..<count).map { "user-\($0)" })
      #expect(try await store.admit("j1", usersKey: "crowd") == .admitted)
      let most = 250 + (kind == .list ? 0 : Self.bucketMax)
      var unread = try await store.unread("j1")
      #expect((count - most..<count).contains(unread))
      var sent = 0
      while let claim = try await store.chunks.claim(consumer: "w", max: 1).first {
        sent += claim.recipientList.count
        let users = claim.recipientList.count
        _ = try await store.chunks.settle(
          claim, .final(accepted: users, users: users), consumer: "w")
        let now = try await store.unread("j1")
        #expect(unread - now <= most)
        unread = now
      }
      #expect(sent == count && unread == 0)
      // Functions ask for no more either: SSCAN, ZSCAN and LRANGE are called once for 250, and to try the key.
      let stats = try await store.redis("INFO", "commandstats").string ?? ""
      let name = ["set": "sscan", "zset": "zscan", "list": "lrange"][kind.rawValue]!
      let line = stats.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_\(name):") }
      let calls = line?.split(separator: "=").dropFirst().first?.prefix { $0.isNumber }
      #expect(try #require(calls.flatMap { Int($0) }) >= count / most)
    }
  }

  @Test func `a call that finds nobody reads twice as much at most`() async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .list, (0..<6_000).map { "a\n\($0)" })
      #expect(try await store.admit("j1", usersKey: "crowd") == .admitted)
      #expect(try await store.unread("j1") == 5_500)
      #expect(try await store.chunks.promote(max: 1).taken == 1)
      #expect(try await store.unread("j1") == 5_000)
    }
  }

  @Test func `a set that was replaced by one that is only read as a whole is given up`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, (0..<5_000).map { "user-\($0)" })
      #expect(try await store.admit("j1", usersKey: "crowd", window: 1) == .admitted)
      let unread = try await store.unread("j1")
      _ = try await store.redis("CONFIG", "SET", "set-max-intset-entries", "1000000")
      _ = try await store.redis("DEL", "crowd")
      try await store.fill("crowd", .set, (0..<50_000).map { "\($0)" })
      #expect(try await store.redis("OBJECT", "ENCODING", "crowd").string == "intset")
      let sent = try await store.finish("j1")
      #expect(sent.count == 5_000 - unread && sent.allSatisfy { $0.hasPrefix("user-") })
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.failed == unread && record.isBalanced)
      #expect(try await store.deadLetters.list(max: 2).map(\.reason) == ["users_key_gone"])
    }
  }
}

extension ShardStore {
  /// Members of the job's key that were announced and not read yet.
  fileprivate func unread(_ id: String) async throws -> Int {
    let text = try await redis("HGET", keys.job(app: "shop", id: id), "unread").string
    // Of a job that has ended it is left out.
    return try text.map { try #require(Int($0)) } ?? 0
  }
}
