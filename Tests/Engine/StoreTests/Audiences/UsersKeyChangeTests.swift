import Model
import Redis
import Testing

@testable import Store

/// A key of users changes while it is read: whoever stays in it is sent to once.
@Suite struct UsersKeyChangeTests {
  private static let users = (0..<20_000).map { "user-\($0)" }

  /// Reads a third of 20,000 users, lets the key change, reads on; the users of the second list stay in the key
  /// throughout.
  private func change(
    _ kind: UsersKeyTests.Kind, _ body: @Sendable (ShardStore, [String]) async throws -> [String]
  ) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", kind, Self.users)
      try await store.admit("j1", usersKey: "crowd", window: 2)
      var sent = try await store.work("j1", until: Self.users.count / 3)
      let staying = Set(try await body(store, sent))
      sent += try await store.work("j1")
      expectOnce(sent.filter(staying.contains), Array(staying))
      #expect(Set(sent).count == sent.count, "nobody at all is sent to twice")
      try await store.expectEnd("j1", accepted: sent.count)
    }
  }

  @Test(arguments: UsersKeyTests.Kind.allCases)
  func `members that were read already are removed`(kind: UsersKeyTests.Kind) async throws {
    try await change(kind) { store, sent in
      let gone = Array(sent.prefix(3_000))
      try await store.remove(gone, from: "crowd", kind)
      return Array(Set(Self.users).subtracting(gone))
    }
  }

  @Test(arguments: UsersKeyTests.Kind.allCases)
  func `members are added in front`(kind: UsersKeyTests.Kind) async throws {
    try await change(kind) { store, _ in
      for number in 0..<2_000 {
        switch kind {
        case .set: _ = try await store.redis("SADD", "crowd", "new-\(number)")
        case .zset: _ = try await store.redis("ZADD", "crowd", "-1", "new-\(number)")
        case .list: _ = try await store.redis("LPUSH", "crowd", "new-\(number)")
        }
      }
      return Self.users
    }
  }

  @Test func `a list is taken from at one end and pushed to at the other, by as much`() async throws
  {
    try await change(.list) { store, _ in
      for number in 0..<1_500 {
        _ = try await store.redis("LPOP", "crowd")
        _ = try await store.redis("RPUSH", "crowd", "new-\(number)")
      }
      return Array(Self.users.dropFirst(1_500))
    }
  }

  @Test(arguments: [["LEFT", "RIGHT"], ["RIGHT", "LEFT"]])
  func `a list goes round while it is read`(ends: [String]) async throws {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .list, Self.users)
      try await store.admit("j1", usersKey: "crowd", window: 2)
      var sent: [String] = []
      for _ in 0..<40 {
        sent += try await store.work("j1", until: 300)
        for _ in 0..<400 { _ = try await store.redis("LMOVE", "crowd", "crowd", ends[0], ends[1]) }
      }
      sent += try await store.work("j1")
      expectOnce(sent, Self.users)
      try await store.expectEnd("j1", accepted: sent.count)
    }
  }

  @Test func `a set shrinks to a fiftieth`() async throws {
    try await change(.set) { store, _ in
      try await store.remove(Array(Self.users.dropFirst(400)), from: "crowd", .set)
      return Array(Self.users.prefix(400))
    }
  }

  @Test func `a list's last members are put first while others take their places`() async throws {
    try await change(.list) { store, _ in
      for _ in 0..<900 {
        _ = try await store.redis("LMOVE", "crowd", "crowd", "RIGHT", "LEFT")
      }
      for number in 0..<900 { _ = try await store.redis("RPUSH", "crowd", "last-\(number)") }
      return Self.users
    }
  }

  /// As many as come in front, or more, leave it: the place stands still, or goes the other way.
  @Test(arguments: [900, 1_000])
  func `a list's last members are put first while its first leave`(leaving: Int) async throws {
    try await change(.list) { store, _ in
      for _ in 0..<leaving { _ = try await store.redis("LPOP", "crowd") }
      for _ in 0..<900 {
        _ = try await store.redis("LMOVE", "crowd", "crowd", "RIGHT", "LEFT")
      }
      return Array(Self.users.dropFirst(leaving))
    }
  }

  /// Whoever does something goes to the head; others are taken out.
  @Test func `members of a list by last use go first while others are removed`() async throws {
    try await change(.list) { store, sent in
      let unread = Self.users.suffix(4_000).prefix(300)
      for user in unread {
        _ = try await store.redis("LREM", "crowd", "1", user)
        _ = try await store.redis("LPUSH", "crowd", user)
      }
      for user in Self.users.prefix(300) { _ = try await store.redis("LREM", "crowd", "1", user) }
      return Array(Self.users.dropFirst(300))
    }
  }

  /// Of the latest users, or of as many as come: the job must not follow those who come for ever.
  @Test(arguments: [false, true])
  func `a list is pushed to at its head all the time, and its job ends`(isCapped: Bool) async throws
  {
    try await Lane.withStore { _, store in
      let users = Array(Self.users.prefix(3_000))
      try await store.fill("crowd", .list, users)
      try await store.admit("j1", usersKey: "crowd", window: 2)
      var (sent, steps) = ([String](), 0)
      while steps < 400, let more = try await store.step() {
        sent += more
        steps += 1
        _ = try await store.redis("LPUSH", "crowd", "new-\(steps)")
        if isCapped { _ = try await store.redis("RPOP", "crowd") }
      }
      #expect(steps < 400, "it does not end")
      let staying = isCapped ? users.dropLast(400) : users[...]
      expectOnce(sent.filter { !$0.hasPrefix("new") }, Array(staying))
      try await store.expectEnd("j1", accepted: sent.count)
    }
  }

  /// The table of a set that shrinks this far puts all its members into a few buckets: a cursor goes back to the start of one.
  @Test(arguments: [false, true])
  func `a set shrinks to a few members that were read long ago`(isFilledAnew: Bool) async throws {
    try await change(.set) { store, sent in
      let staying = stride(from: 0, to: sent.count, by: sent.count / 8).map { sent[$0] }
      if isFilledAnew {
        _ = try await store.redis("DEL", "crowd")
        try await store.fill("crowd", .set, staying)
      } else {
        let gone = Array(Set(Self.users).subtracting(staying))
        try await store.remove(gone, from: "crowd", .set)
      }
      return staying
    }
  }

  @Test func `all scores of a sorted set change`() async throws {
    try await change(.zset) { store, _ in
      for (rank, user) in Self.users.enumerated() {
        _ = try await store.redis("ZADD", "crowd", "\(-rank)", user)
      }
      return Self.users
    }
  }

  @Test func `a list is turned round`() async throws {
    try await change(.list) { store, _ in
      _ = try await store.redis("DEL", "crowd")
      try await store.fill("crowd", .list, Self.users.reversed())
      return Self.users
    }
  }

  @Test func `a list that is never the same twice and brings nobody new is given up`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .list, Array(Self.users.prefix(4_000)))
      try await store.admit("j1", usersKey: "crowd", window: 1)
      var sent = try await store.step() ?? []
      let first = sent
      for _ in 0..<1_000 {
        // Only who was sent to is left, each of them many times, in an order of its own.
        _ = try await store.redis("DEL", "crowd")
        for _ in 0..<16 {
          try await store.fill("crowd", .list, first.shuffled())
        }
        let more = try await store.step()
        guard let more else { break }
        sent += more
      }
      let record = try await store.record("j1")
      #expect(record.state == .done && record.isBalanced)
      #expect(record.counts.failed > 0 && record.counts.accepted == sent.count)
      #expect(Set(sent).count == sent.count, "nobody at all is sent to twice")
      #expect(try await store.deadLetters.list(max: 2).map(\.reason) == ["users_key_gone"])
      let unread = try await store.redis("HGET", store.keys.job(app: "shop", id: "j1"), "unread")
      #expect(unread.string == "0")
    }
  }

  @Test func `who left the key before they were read is told apart from who was never there`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.fill("crowd", .set, Self.users)
      try await store.admit("j1", usersKey: "crowd", window: 1)
      var sent = try await store.work("j1", until: 5_000)
      _ = try await store.redis("DEL", "crowd")
      try await store.fill("crowd", .set, ["one", "other"])
      sent += try await store.work("j1")
      let record = try await store.record("j1")
      #expect(record.state == .done && record.isBalanced && record.total == sent.count)
      let left = try await store.redis("HGET", store.keys.job(app: "shop", id: "j1"), "left_key")
      #expect(left.string.flatMap { Int($0) } ?? 0 >= Self.users.count - sent.count)
    }
  }
}

extension ShardStore {
  func remove(_ members: [String], from key: String, _ kind: UsersKeyTests.Kind) async throws {
    for member in members {
      switch kind {
      case .set: _ = try await redis("SREM", key, member)
      case .zset: _ = try await redis("ZREM", key, member)
      case .list: _ = try await redis("LREM", key, "1", member)
      }
    }
  }

  /// Does one thing that there is to do. - Returns: whom it sent to; nil when there is nothing.
  func step() async throws -> [String]? {
    if let claim = try await chunks.claim(consumer: "w", max: 1).first {
      let list = claim.recipientList
      _ = try await chunks.settle(
        claim, .final(accepted: list.count, users: list.count), consumer: "w")
      return list
    }
    return try await chunks.promote(max: 1).taken > 0 ? [] : nil
  }
}
