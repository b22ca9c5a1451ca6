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
      let first = try await office.list(max: 4).map(\.name)
      #expect(first.map(\.text) == ["main/1-0", "eu/2-0", "eu/3-0", "main/4-0"])
      let rest = try await office.list(after: first.last, max: 4).map(\.name.text)
      #expect(rest == ["main/5-0", "eu/6-0"])
    }
  }

  @Test(arguments: 1...4)
  func `letters of the same entry are pages apart, each once, whatever the size of a page`(
    max: Int
  ) async throws {
    try await Shards.withStores { _, stores in
      for store in stores { try await Self.bury("7-0", in: store) }
      try await Self.bury("7-1", in: stores[0])
      try await Self.bury("8-0", in: stores[1])
      let office = DeadLetterOffice(stores: stores)
      var seen: [String] = []
      var last: ShardEntry?
      for _ in 0..<9 {
        let page = try await office.list(after: last, max: max)
        #expect(page.count <= max)
        seen += page.map(\.name.text)
        guard let next = page.last?.name else { break }
        last = next
      }
      #expect(seen == ["eu/7-0", "main/7-0", "main/7-1", "eu/8-0"])
    }
  }

  @Test func `a letter is shown, retried and dropped where it is`() async throws {
    try await Shards.withStores { _, stores in
      try await Self.bury("1-0", in: stores[1], job: "{}")
      try await Self.bury("2-0", in: stores[0])
      let (one, two) = (try Self.name("eu/1-0", stores), try Self.name("main/2-0", stores))
      let office = DeadLetterOffice(stores: stores)
      #expect(try await office.show(one)?.original == "{}")
      #expect(try await office.show(Self.name("eu/3-0", stores)) == nil)
      guard case .retried(let queued?) = try await office.retry(one) else {
        Issue.record("it is not queued again")
        return
      }
      #expect(queued.shard == stores[1].id && queued.text.hasPrefix("eu/"))
      #expect(try await stores[1].backlog.status().jobs[.normal] == 1)
      #expect(try await stores[0].backlog.status().jobs[.normal] == 0)
      #expect(try await office.retry(one) == .absent)
      #expect(try await office.drop(two))
      #expect(try await office.drop(two) == false)
      #expect(try await office.count() == 0)
    }
  }

  @Test func `nothing is done to another shard's letter of the same entry`() async throws {
    try await Shards.withStores { _, stores in
      for (store, job) in zip(stores, [#"{"shard":"main"}"#, #"{"shard":"eu"}"#]) {
        for entry in ["1-0", "2-0"] { try await Self.bury(entry, in: store, job: job) }
      }
      let office = DeadLetterOffice(stores: stores)
      let (one, two) = (try Self.name("eu/1-0", stores), try Self.name("eu/2-0", stores))
      #expect(try await office.show(one)?.original == #"{"shard":"eu"}"#)
      #expect(try await office.glance(one)?.name == one)
      #expect(try await office.glance(one)?.original == nil)
      guard case .retried(.some) = try await office.retry(one) else {
        Issue.record("it is not queued again")
        return
      }
      #expect(try await office.drop(two))
      // Done before: the letters that are left are the other shard's.
      #expect(try await office.retry(one) == .absent)
      #expect(try await office.drop(two) == false)
      #expect(try await office.show(one) == nil)
      #expect(try await office.glance(two) == nil)
      #expect(try await office.list(max: 9).map(\.name.text) == ["main/1-0", "main/2-0"])
      #expect(try await stores[0].backlog.status().jobs[.normal] == 0)
      #expect(try await stores[1].backlog.status().jobs[.normal] == 1)
      // A shard that is none of these has no letter.
      let stranger = ShardEntry(shard: try ShardID("us"), id: one.id)
      #expect(try await office.retry(stranger) == .absent)
      #expect(try await office.drop(stranger) == false)
      #expect(try await office.count() == 2)
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
      let first = try await scan.next(in: stores).map(\.text)
      #expect(first.count == OperationsLimits.deadPage && first.first == "main/1-0")
      // Somebody takes the last one away, and another comes.
      _ = try await stores[0].deadLetters.drop("\(count)-0")
      for store in stores { try await Self.bury("\(count + 1)-0", in: store) }
      #expect(try await scan.next(in: stores).map(\.text) == ["main/\(count - 1)-0"])
      #expect(try await scan.next(in: stores).map(\.text) == ["eu/1-0"])
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

  private static func name(_ text: String, _ stores: [ShardStore]) throws -> ShardEntry {
    try ShardEntry(text, of: stores.map(\.id))
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
