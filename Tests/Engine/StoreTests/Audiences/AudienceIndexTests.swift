import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// The users of an index, in blocks.
@Suite struct AudienceIndexTests {
  private static let users =
    (0..<600).map { "user-\($0)" } + (0..<100).map { "\($0)ü日本" }
    + (0..<40).map { String(repeating: "long-", count: 40) + "\($0)" } + ["-", "(", "[a", "+"]

  @Test(
    "an index is the set of those who were added and not removed, whatever is split and joined",
    arguments: [120, 8])
  func agreesWithSet(blockMax: Int) async throws {
    let library = try StoreLibrary.library.limiting("BLOCK_MAX", from: 120, to: blockMax)
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server, library: library)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      var dice = SeededDice(seed: 12)
      var expected: Set<String> = []
      // Blocks fill up, then most of them empty again.
      for (round, share) in [80, 20, 60, 5, 90, 0].enumerated() {
        for _ in 0..<40 {
          let adds = dice.below(100) < share
          let users = (0..<84).map { _ in Self.users[dice.below(Self.users.count)] }
          let subscriptions = users.map { Subscription(app: "shop", topic: "news", user: $0) }
          let before = expected.count
          if adds {
            expected.formUnion(users)
            #expect(
              try await store.audiences.subscribe(subscriptions) == expected.count - before)
          } else {
            expected.subtract(users)
            #expect(
              try await store.audiences.unsubscribe(subscriptions) == before - expected.count)
          }
        }
        let found = try await store.members(of: .topic("news"))
        #expect(found == expected.sorted { $0.isBefore($1) }, "after round \(round)")
      }
      try await store.unsubscribe(Self.users)
      #expect(try await store.allKeys() == [], "nothing is left of an index that is empty")
    }
  }

  @Test func `a member costs at most 40 bytes beside its name`() async throws {
    try await Lane.withStore { _, store in
      for isAscending in [true, false] {
        _ = try await store.redis("FLUSHALL")
        let users = (0..<50_000).map { "user-\(100_000 + $0)" }
        let before = try await Self.usedBytes(store)
        try await store.subscribe(isAscending ? users : users.shuffled())
        let bytes = try await Self.usedBytes(store) - before
        #expect(bytes / users.count <= 40 + users[0].utf8.count, "\(bytes / users.count)")
      }
    }
  }

  private static func usedBytes(_ store: ShardStore) async throws -> Int {
    let information = try await store.redis("INFO", "memory").string ?? ""
    let line = information.split(whereSeparator: \.isNewline)
      .first { $0.hasPrefix("used_memory:") }
    return try #require(line.flatMap { Int($0.dropFirst("used_memory:".count)) })
  }

  @Test func `what an addition to a large index costs does not depend on its size`() async throws {
    try await Lane.withStore { _, store in
      try await store.subscribe((0..<20_000).map { "user-\($0)" })
      let new = (0..<1_000).map { "other-\($0)" }
      let before = try await store.commandCount()
      try await store.subscribe(new)
      #expect(try await store.commandCount() - before < 5 * new.count)
      let again = try await store.commandCount()
      try await store.subscribe(new)
      #expect(try await store.commandCount() - again < 3 * new.count, "who is there is compared")
    }
  }

  @Test func `topics are listed with their sizes, without those that nobody subscribes to`()
    async throws
  {
    try await Lane.withStore { _, store in
      #expect(try await store.audiences.sizes(app: "shop") == [])
      try await store.install("u1", "aa")
      try await store.subscribe(["u1", "u2", "u3"], to: "news")
      try await store.subscribe(["u1", "u3"], to: "goals")
      try await store.subscribe(["u1"], to: "left")
      try await store.unsubscribe(["u1", "u9"], from: "left")
      _ = try await store.audiences.subscribe([.init(app: "game", topic: "news", user: "u1")])
      #expect(
        try await store.audiences.sizes(app: "shop")
          == [
            IndexSize(index: .all, users: 1), IndexSize(index: .topic("goals"), users: 2),
            IndexSize(index: .topic("news"), users: 3),
          ])
      // Many are asked for page by page.
      for number in 0..<1_200 { try await store.subscribe(["u"], to: "t\(number)") }
      #expect(try await store.audiences.sizes(app: "shop").count == 1_203)
    }
  }
}
