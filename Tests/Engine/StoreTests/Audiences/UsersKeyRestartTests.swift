import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// The server that a key of users is read from dies in the middle, or another takes over.
@Suite struct UsersKeyRestartTests {
  private static let users = (0..<30_000).map { "user-\($0)" }
  /// What has been sent when a server dies.
  private static let deaths = [9_000, 13_500, 24_000]

  /// Nothing that was answered is lost with the process. With `everysec` a disk that is slow would lose some of it.
  private static var durable: RedisServer.Options {
    var options = RedisServer.Options()
    options.appendOnly = true
    return options
  }

  @Test(
    "Redis may be killed and restarted while a key is read: each member is sent to once",
    arguments: UsersKeyTests.Kind.allCases)
  func survivesRestarts(kind: UsersKeyTests.Kind) async throws {
    try await Lane.withServer(Self.durable) { lane, server in
      var sent: [String] = []
      for (number, death) in (Self.deaths + [.max]).enumerated() {
        let connection = try await lane.connect(server)
        defer { connection.close() }
        let store = ShardStore(connection: connection, prefix: "{pp}")
        if number == 0 {
          try await store.fill("crowd", kind, Self.users)
          try await store.admit("j1", usersKey: "crowd", window: 4)
        }
        sent += try await store.work("j1", until: death - min(sent.count, death))
        if death == .max { try await store.expectEnd("j1", accepted: Self.users.count) }
        await server.kill9()
        try await server.restart()
      }
      expectOnce(sent, Self.users)
    }
  }

  @Test(
    "a replica may be promoted while a key is read: each member is sent to once",
    arguments: UsersKeyTests.Kind.allCases)
  func survivesFailover(kind: UsersKeyTests.Kind) async throws {
    var options = RedisServer.Options()
    options.tcp = true
    options.configuration = ["repl-diskless-sync-delay 0"]
    try await Lane.withServer(options) { lane, master in
      let port = try #require(master.port)
      var replicaOptions = RedisServer.Options()
      replicaOptions.configuration = ["replicaof 127.0.0.1 \(port)"]
      try await RedisServer.with(replicaOptions) { replica in
        let connection = try await lane.connect(master)
        defer { connection.close() }
        let store = ShardStore(connection: connection, prefix: "{pp}")
        try await store.fill("crowd", kind, Self.users)
        try await store.admit("j1", usersKey: "crowd", window: 4)
        var sent = try await store.work("j1", until: 13_500)
        #expect(try await store.redis("WAIT", "1", "60000").integer == 1)
        await master.kill9()
        var endpoint = replica.endpoint
        endpoint.needsPrimary = false
        let other = try await lane.connect(endpoint, library: StoreLibrary.library)
        defer { other.close() }
        let successor = ShardStore(connection: other, prefix: "{pp}")
        _ = try await successor.redis("REPLICAOF", "NO", "ONE")
        sent += try await successor.work("j1")
        try await successor.expectEnd("j1", accepted: Self.users.count)
        expectOnce(sent, Self.users)
      }
    }
  }

  @Test("a key of millions is read in parts, so that what is remembered stays small")
  func boundsMemory() async throws {
    let library = try StoreLibrary.library
      .limiting("MARKED_MAX", from: 6_000_000, to: 2_000)
      .limiting("RECALLED_MAX", from: 1_000_000, to: 600)
    let users = Array(Self.users.prefix(8_000))
    try await Lane.withServer(Self.durable) { lane, server in
      var sent: [String] = []
      for death in [500, 1_400, 3_000, 3_500, 6_000, 7_900, .max] {
        let connection = try await lane.connect(server, library: library)
        defer { connection.close() }
        let store = ShardStore(connection: connection, prefix: "{pp}")
        if sent.isEmpty {
          try await store.fill("crowd", .set, users)
          try await store.admit("j1", usersKey: "crowd", window: 1)
        }
        while sent.count < death {
          let more = try await store.work("j1", until: 1)
          if more.isEmpty { break }
          sent += more
          // A fourth of the members, and what one read brings; the marks are spread by chance.
          #expect(try await store.markBytes() <= 8 * 2_500)
          #expect(try await store.recalled() <= 900)
        }
        if death == .max { try await store.expectEnd("j1", accepted: users.count) }
        await server.kill9()
        try await server.restart()
      }
      expectOnce(sent, users)
    }
  }

  @Test("a key that is read in parts keeps as many chunks at work as any other")
  func fillsWindow() async throws {
    let library = try StoreLibrary.library.limiting("MARKED_MAX", from: 6_000_000, to: 1_000)
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server, library: library)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      try await store.fill("crowd", .set, Array(Self.users.prefix(8_000)))
      try await store.admit("j1", usersKey: "crowd", window: 8)
      while try await store.chunks.promote(max: 100).taken > 0 {}
      let inHand = try await store.chunks.claim(consumer: "w", max: 9)
      #expect(inHand.count == 8)
      let users = inHand.flatMap(\.recipientList)
      #expect(Set(users).count == users.count)
    }
  }

  @Test(
    "an older version's job is read on where that left it", arguments: UsersKeyTests.Kind.allCases)
  func readsOnForOlderVersion(kind: UsersKeyTests.Kind) async throws {
    try await Lane.withStore { _, store in
      let users = Array(Self.users.prefix(3_000))
      try await store.fill("crowd", kind, users)
      try await store.admit("j1", usersKey: "crowd", window: 1)
      let key = store.keys.job(app: "shop", id: "j1")
      let cursor = try #require(try await store.redis("HGET", key, "scan_cursor").string)
      let fields = ["server", "from", "to", "parts", "marked", "size", "anchor", "begun"]
      for field in fields { _ = try await store.redis("HDEL", key, "scan_\(field)") }
      // A ZSET was read by rank; here the first 500 were read in another order.
      _ = try await store.redis(
        "HSET", key, "scan_cursor", kind == .zset ? "500" : String(cursor.dropFirst()))
      let sent = try await store.work("j1")
      let first = kind == .zset ? Set(sent.dropFirst(sent.count - 2_500)) : Set(sent)
      #expect(first == Set(kind == .zset ? Array(users.dropFirst(500)) : users))
      try await store.expectEnd("j1", accepted: sent.count)
    }
  }
}

/// Each of `users` stands in `sent` once.
func expectOnce(_ sent: [String], _ users: [String]) {
  let reached = Set(sent)
  let missing = users.count { !reached.contains($0) }
  #expect(missing == 0, "never sent to: \(missing) of \(users.count)")
  #expect(sent.count == reached.count, "sent to again: \(sent.count - reached.count)")
}

extension FunctionLibrary {
  /// The library with another limit: what it bounds is then reached by a small test.
  func limiting(_ name: String, from old: Int, to new: Int) throws -> FunctionLibrary {
    let parts = source.split(separator: "  \(name) = \(old),", omittingEmptySubsequences: false)
    try #require(parts.count == 2, "\(name) is not \(old)")
    return FunctionLibrary(
      name: self.name, version: version, template: parts.joined(separator: "  \(name) = \(new),"))
  }
}

extension ShardStore {
  /// Works until so many more were sent to, or nothing is left; every user has one installation. What was claimed is settled.
  func work(_ id: String, until count: Int = .max) async throws -> [String] {
    var sent: [String] = []
    while sent.count < count {
      let moved = try await chunks.promote(max: 100).taken
      guard let claim = try await chunks.claim(consumer: "w", max: 1).first else {
        if moved == 0 { break }
        continue
      }
      let list = claim.recipientList
      sent += list
      _ = try await chunks.settle(
        claim, .final(accepted: list.count, users: list.count), consumer: "w")
      #expect(try await record(id).isBalanced)
    }
    return sent
  }

  /// The job is done, its sum is right, and nothing is left of the reading.
  func expectEnd(_ id: String, accepted: Int) async throws {
    let record = try await record(id)
    #expect(record.state == .done && record.isBalanced && record.pending == 0)
    #expect(record.total == accepted && record.counts.accepted == accepted)
    #expect(try await discrepancy(id) == nil)
    #expect(try await segmentCount() == 0)
    #expect(try await allKeys().filter { $0.contains(":marks:") || $0.contains(":read:") } == [])
  }

  func markBytes() async throws -> Int {
    var bytes = 0
    for key in try await allKeys() where key.contains(":marks:") {
      for marks in try await redis("LRANGE", key, "0", "-1").array ?? [] {
        bytes += marks.bytes?.count ?? 0
      }
    }
    return bytes
  }

  func recalled() async throws -> Int {
    var count = 0
    for key in try await allKeys() where key.contains(":read:") {
      count += Int(try await redis("SCARD", key).integer ?? 0)
    }
    return count
  }
}
