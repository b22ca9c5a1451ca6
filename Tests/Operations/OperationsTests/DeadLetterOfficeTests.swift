import Model
import Operations
import Redis
import Store
import Testing

/// The dead letters of a fleet, whichever shard each is in.
@Suite struct DeadLetterOfficeTests {
  @Test func `the letters of two shards are one list in the order of their entries`()
    async throws
  {
    try await Shards.withStores { _, stores in
      for number in [1, 4, 5] { try await Self.bury("\(number)-0", in: stores[0]) }
      for number in [2, 3, 6] { try await Self.bury("\(number)-0", in: stores[1]) }
      let office = DeadLetterOffice(stores: stores)
      #expect(try await office.count() == 6)
      let first = try await office.list(max: 4).map(\.entry)
      #expect(first == ["1-0", "2-0", "3-0", "4-0"])
      let rest = try await office.list(after: first.last, max: 4).map(\.entry)
      #expect(rest == ["5-0", "6-0"])
    }
  }

  @Test func `no page ends between letters of the same entry`() async throws {
    try await Shards.withStores { _, stores in
      for store in stores { try await Self.bury("7-0", in: store) }
      try await Self.bury("8-0", in: stores[1])
      let office = DeadLetterOffice(stores: stores)
      #expect(try await office.list(max: 1).map(\.entry) == ["7-0", "7-0"])
      #expect(try await office.list(after: "7-0", max: 1).map(\.entry) == ["8-0"])
    }
  }

  @Test func `a letter is shown, retried and dropped where it is`() async throws {
    try await Shards.withStores { _, stores in
      try await Self.bury("1-0", in: stores[1], job: "{}")
      try await Self.bury("2-0", in: stores[0])
      let office = DeadLetterOffice(stores: stores)
      #expect(try await office.show("1-0")?.original == "{}")
      #expect(try await office.show("3-0") == nil)
      guard case .retried(.some) = try await office.retry("1-0") else {
        Issue.record("it is not queued again")
        return
      }
      #expect(try await stores[1].backlog.status().jobs[.normal] == 1)
      #expect(try await stores[0].backlog.status().jobs[.normal] == 0)
      #expect(try await office.retry("1-0") == .absent)
      #expect(try await office.drop("2-0"))
      #expect(try await office.drop("2-0") == false)
      #expect(try await office.count() == 0)
    }
  }

  @Test
  func `a scan goes through all letters of all shards, and not those that come meanwhile`()
    async throws
  {
    try await Shards.withStores { _, stores in
      // More than a page in the first one.
      let count = OperationsLimits.deadPage + 2
      for number in 1...count { try await Self.bury("\(number)-0", in: stores[0]) }
      try await Self.bury("1-0", in: stores[1])
      var scan = try await DeadLetterScan.begin(in: stores)
      let first = try await scan.next(in: stores)
      #expect(first.count == OperationsLimits.deadPage && first.first == "1-0")
      // Somebody takes the last one away, and another comes.
      _ = try await stores[0].deadLetters.drop("\(count)-0")
      for store in stores { try await Self.bury("\(count + 1)-0", in: store) }
      #expect(try await scan.next(in: stores) == ["\(count - 1)-0"])
      #expect(try await scan.next(in: stores) == ["1-0"])
      #expect(try await scan.next(in: stores) == [])
    }
  }

  @Test func `a scan without letters ends at once`() async throws {
    try await Shards.withStores { _, stores in
      var scan = try await DeadLetterScan.begin(in: stores)
      try await Self.bury("1-0", in: stores[0])
      #expect(try await scan.next(in: stores) == [])
    }
  }

  /// Adds a letter as the functions write it.
  private static func bury(
    _ entry: String, in store: ShardStore, job: String = "x"
  ) async throws(RedisError) {
    _ = try await store.connection.call(
      RedisCommand(
        "XADD", store.keys.dead, entry, "at", "1790000000000", "kind", "job", "reason",
        "unknown_app",
        "app", "shop", "id", "sale", "priority", "normal", "job", job, "truncated", "0"))
  }
}
