import LocalServices
import Model
import Redis
import Testing

@testable import Store

/// Jobs to the users of an index.
@Suite struct AudienceReadTests {
  private static let users = (0..<12_000).map { "user-\($0)" }

  @Test func `each subscriber of a topic is sent to once, in full chunks, within the window`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.subscribe(Self.users)
      try await store.subscribe(["somebody else"], to: "new")
      #expect(try await store.admit("j1", to: .topic("news"), window: 8) == .admitted)
      let first = try await store.record("j1")
      #expect(first.total == Self.users.count && first.pending == first.total && first.isBalanced)
      #expect(try await store.segmentCount() <= 8)
      var sent: [String] = []
      var chunks = 0
      while let claim = try await store.chunks.claim(consumer: "w", max: 1).first {
        let list = claim.recipientList
        #expect(list.count <= Limits.chunkRecipientsMax)
        sent += list
        chunks += 1
        let before = try await store.commandCount()
        _ = try await store.chunks.settle(
          claim, .final(accepted: list.count, users: list.count), consumer: "w")
        #expect(try await store.commandCount() - before < 80, "a page is few commands")
      }
      expectOnce(sent, Self.users)
      #expect(chunks <= Self.users.count / 200)
      try await store.expectEnd("j1", accepted: Self.users.count)
    }
  }

  @Test func `who stays is sent to once, whoever comes and goes meanwhile`() async throws {
    let library = try StoreLibrary.library.limiting("BLOCK_MAX", from: 120, to: 24)
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server, library: library)
      defer { connection.close() }
      let store = ShardStore(connection: connection, prefix: "{pp}")
      // Every third stays; the others come and go, and blocks are split and joined by it.
      let staying = Self.users.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
      let moving = Self.users.enumerated().filter { $0.offset % 3 != 0 }.map(\.element)
      try await store.subscribe(staying + moving)
      #expect(try await store.admit("j1", to: .topic("news"), window: 2) == .admitted)
      var sent: [String] = []
      var leaves = true
      while true {
        let more = try await store.work("j1", until: 1)
        if more.isEmpty { break }
        sent += more
        if sent.count % 7 < 3 {
          let some = moving.shuffled().prefix(1_500)
          if leaves {
            try await store.unsubscribe(Array(some))
          } else {
            try await store.subscribe(Array(some))
          }
          leaves.toggle()
        }
      }
      let everybody = Set(staying)
      expectOnce(sent.filter { everybody.contains($0) }, staying)
      #expect(Set(sent).count == sent.count, "those who move are not sent to twice either")
      let record = try await store.record("j1")
      #expect(record.state == .done && record.isBalanced && record.counts.accepted == sent.count)
      #expect(try await store.discrepancy("j1") == nil)
    }
  }

  @Test func `Redis may be killed and restarted while an index is read`() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    try await Lane.withServer(options) { lane, server in
      var sent: [String] = []
      for death in [2_000, 5_000, 9_000, .max] {
        let connection = try await lane.connect(server)
        defer { connection.close() }
        let store = ShardStore(connection: connection, prefix: "{pp}")
        if sent.isEmpty {
          try await store.subscribe(Self.users)
          try await store.admit("j1", to: .topic("news"), window: 4)
        }
        sent += try await store.work("j1", until: death - min(sent.count, death))
        if death == .max { try await store.expectEnd("j1", accepted: Self.users.count) }
        await server.kill9()
        try await server.restart()
      }
      expectOnce(sent, Self.users)
    }
  }

  @Test(arguments: [AudienceIndex.topic("nobodys"), .all])
  func `a job to nobody is done at once, with a total of 0`(index: AudienceIndex) async throws {
    try await Lane.withStore { _, store in
      #expect(try await store.admit("j1", to: index) == .admitted)
      try await store.expectEnd("j1", accepted: 0)
      // Those who come before a later start receive.
      let now = try await store.record("j1").createdAtMs ?? 0
      #expect(
        try await store.admit("j2", to: index, startAtMs: now + 3_600_000) == .admitted)
      #expect(try await store.record("j2").state == .scheduled)
      if case .topic(let topic) = index {
        try await store.subscribe(["late"], to: topic)
      } else {
        try await store.install("late", "aa")
      }
      let key = store.keys.job(app: "shop", id: "j2")
      _ = try await store.redis("HSET", key, "start_at", "1")
      try await store.hurry()
      #expect(try await store.work("j2") == ["late"])
      try await store.expectEnd("j2", accepted: 1)
    }
  }

  @Test func `a job is cancelled and paused while its index is read`() async throws {
    try await Lane.withStore { _, store in
      try await store.subscribe(Self.users)
      try await store.admit("j1", to: .topic("news"), window: 2)
      var sent = try await store.work("j1", until: 3_000)
      #expect(try await store.jobs.pause(app: "shop", id: "j1") == .paused)
      #expect(try await store.jobs.resume(app: "shop", id: "j1") == .running)
      sent += try await store.work("j1", until: 2_000)
      #expect(try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled)
      _ = try await store.work("j1")
      let record = try await store.record("j1")
      #expect(record.state == .cancelled && record.isBalanced)
      #expect(record.counts.accepted == sent.count)
      #expect(record.counts.skipped == Self.users.count - sent.count)
      #expect(Set(sent).count == sent.count)
      #expect(try await store.segmentCount() == 0)
    }
  }

  @Test func `an index whose keys hold something else fails those not read, and says so`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.subscribe(Array(Self.users.prefix(2_000)))
      try await store.admit("j1", to: .topic("news"), window: 1)
      _ = try await store.redis("SET", store.keys.index(.topic("news"), app: "shop"), "x")
      let sent = try await store.work("j1")
      let record = try await store.record("j1")
      #expect(record.state == .done && record.isBalanced)
      #expect(record.counts.failed == 2_000 - sent.count && record.counts.failed > 1_000)
      let letter = try #require(try await store.deadLetters.list(max: 2).first)
      #expect(letter.reason == "index_gone" && letter.field == "/audience")
      #expect(letter.count == record.counts.failed)
    }
  }
}
