import Model
import Redis
import Testing

@testable import Store

@Suite struct SwitchStoreTests {
  /// Makes held chunks due now.
  private func hurry(_ store: ShardStore) async throws {
    let members = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array ?? []
    for member in members.compactMap(\.string) {
      _ = try await store.redis("ZADD", store.keys.delayed, "0", member)
    }
  }

  @Test func `a switch is off until it is on, and off again changes nothing`() async throws {
    try await Lane.withStore { _, store in
      let app = KillSwitch.app("shop")
      guard case .off(let first) = try await store.switches.switchOff(app, reason: "a \"fire\"")
      else { throw NotAsExpected() }
      #expect(first.reason == "a \"fire\"" && (first.sinceMs ?? 0) > 1_700_000_000_000)
      #expect(try await store.switches.switchOff(app, reason: "other") == .already(first))
      _ = try await store.switches.switchOff(.network(app: "shop", .fcm), reason: "")
      let reading = try await store.switches.read()
      #expect(reading.count == 2 && reading.unknown.isEmpty)
      #expect(reading.entries.map(\.killSwitch).contains(.network(app: "shop", .fcm)))
      #expect(try await store.switches.glance().count == 2)
      #expect(try await store.switches.switchOn(app))
      #expect(!(try await store.switches.switchOn(app)))
      #expect(try await store.switches.read().entries.count == 1)
    }
  }

  @Test func `fields of any client are read, and those that mean nothing are named`() async throws {
    try await Lane.withStore { _, store in
      let fields = [
        "app|shop", "user|shop|a|b", "bucket|shop|c|d", "network|shop|pager", "channel|shop|news",
        "topic|shop|goals", "topic|shop|",
        "app|", "bucket|shop|",
      ]
      for field in fields {
        _ = try await store.redis("HSET", store.keys.switches, field, "because")
      }
      let reading = try await store.switches.read()
      #expect(
        Set(reading.entries.map(\.killSwitch)) == [
          .app("shop"), .user(app: "shop", "a|b"), .bucket(app: "shop", "c|d"),
          .topic(app: "shop", "goals"),
        ])
      #expect(reading.entries.allSatisfy { $0.remark.reason == "because" })
      #expect(
        reading.unknown.sorted() == [
          "app|", "bucket|shop|", "channel|shop|news", "network|shop|pager", "topic|shop|",
        ])
    }
  }

  @Test func `of too many switches those of users are honoured last`() async throws {
    try await Lane.withStore { _, store in
      let users = (0..<1_500).map { "user|shop|u\($0)" }
      for first in stride(from: 0, to: users.count, by: 500) {
        var command = RedisCommand("HSET", store.keys.switches)
        for user in users[first..<first + 500] {
          command.append(user)
          command.append("")
        }
        _ = try await store.connection.call(command)
      }
      #expect(try await store.switches.switchOff(.app("late"), reason: "") == .full)
      _ = try await store.redis(
        "HSET", store.keys.switches, "app|late", "", "network|a|fcm", "", "bucket|a|b", "")
      let reading = try await store.switches.read()
      #expect(reading.count == 1_503 && reading.isOverfull)
      #expect(reading.entries.count == StoreLimits.switchesMax)
      #expect(reading.entries.contains { $0.killSwitch == .app("late") })
      #expect(reading.entries.contains { $0.killSwitch == .network(app: "a", .fcm) })
      #expect(reading.entries.contains { $0.killSwitch == .bucket(app: "a", "b") })
    }
  }

  @Test func `chunks of an app that is off are held, and come when it is on`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: (0..<60).map { ["u\($0)"] })
      let held = try await store.claimOne()
      _ = try await store.switches.switchOff(.app("shop"), reason: "")
      // What is handed back, what is claimed, and what falls due: all of it waits.
      try await store.chunks.handBack([held], consumer: "worker")
      var calls = 0
      while try await store.chunks.claimSome(consumer: "w", max: 4).isMore { calls += 1 }
      #expect(calls <= 1)
      var status = try await store.backlog.status()
      #expect(status.delayed == 60 && status.chunks[.normal] == 0)
      try await hurry(store)
      _ = try await store.chunks.promote(max: 200)
      #expect(try await store.chunks.claim(consumer: "w", max: 4) == [])
      status = try await store.backlog.status()
      #expect(status.delayed == 60)
      let due = try await store.chunks.promote(max: 1).nextDueMs
      #expect((1_000...3_000).contains(due ?? 0))
      _ = try await store.switches.switchOn(.app("shop"))
      try await hurry(store)
      _ = try await store.chunks.promote(max: 200)
      let claims = try await store.chunks.claim(consumer: "w", max: 300)
      #expect(claims.count == 60 && claims.allSatisfy { $0.crashes == 0 })
    }
  }

  @Test func `a chunk is held for a network only when it is for no other`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 3)
      let lines = ["apns\t\t00aa\tu1\t1\t0\n", "fcm\t\tt1\tu2\t1\t0\n"]
      settlement.residuals = [
        .init(delayMs: 0, lines: Array(lines.joined().utf8)),
        .init(delayMs: 0, lines: Array(lines[1].utf8)),
      ]
      _ = try await store.switches.switchOff(.network(app: "shop", .fcm), reason: "")
      _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
      let claims = try await store.chunks.claim(consumer: "w", max: 4)
      #expect(claims.map { $0.recipientList.count } == [2])
      _ = try await store.switches.switchOff(.network(app: "shop", .apns), reason: "")
      try await store.chunks.handBack(claims, consumer: "w")
      #expect(try await store.chunks.claim(consumer: "w", max: 4) == [])
      #expect(try await store.backlog.status().delayed == 2)
    }
  }

  @Test func `chunks of a bucket that is off are held, and those of others are not`() async throws {
    try await Lane.withStore { _, store in
      let orders = KillSwitch.bucket(app: "shop", "orders")
      try await store.admit("j1", users: [["a"], ["b"]], bucket: "orders")
      #expect(try await store.record("j1").bucket == "orders")
      let held = try await store.claimOne()
      _ = try await store.switches.switchOff(orders, reason: "")
      try await store.admit("j2", users: [["a"]], bucket: "carts")
      try await store.admit("j3", users: [["a"]])
      try await store.admit("j4", users: [["a"]], app: "other", bucket: "orders")
      // What is handed back, and what is claimed: all of it waits, and nobody else does.
      try await store.chunks.handBack([held], consumer: "worker")
      let others = try await store.chunks.claim(consumer: "w", max: 9)
      #expect(others.map(\.job).sorted() == ["j2", "j3", "j4"])
      #expect(try await store.backlog.status().delayed == 2)
      try await hurry(store)
      _ = try await store.chunks.promote(max: 9)
      #expect(try await store.chunks.claim(consumer: "w", max: 9) == [])
      #expect(try await store.switches.switchOn(orders))
      try await hurry(store)
      _ = try await store.chunks.promote(max: 9)
      let claims = try await store.chunks.claim(consumer: "w", max: 9)
      #expect(claims.map(\.job) == ["j1", "j1"] && claims.allSatisfy { $0.crashes == 0 })
    }
  }

  @Test func `chunks of a job to a topic that is off are held, and those of others are not`()
    async throws
  {
    try await Lane.withStore { _, store in
      let news = KillSwitch.topic(app: "shop", "news")
      try await store.subscribe(["a", "b"], to: "news")
      try await store.subscribe(["a"], to: "goals")
      try await store.admit("j1", to: .topic("news"))
      #expect(try await store.record("j1").topic == "news")
      let held = try await store.claimOne()
      _ = try await store.switches.switchOff(news, reason: "")
      try await store.chunks.handBack([held], consumer: "worker")
      try await store.admit("j2", to: .topic("goals"))
      try await store.admit("j3", users: [["a"]])
      let others = try await store.chunks.claim(consumer: "w", max: 9)
      #expect(others.map(\.job).sorted() == ["j2", "j3"])
      #expect(try await store.switches.switchOn(news))
      try await hurry(store)
      _ = try await store.chunks.promote(max: 9)
      #expect(try await store.chunks.claim(consumer: "w", max: 9).map(\.job) == ["j1"])
    }
  }

  @Test(arguments: Network.allCases)
  func `each network can be switched off, and its chunks are held`(network: Network) async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 1)
      let line = "\(network.rawValue)\t\t00aa\tu1\t1\t0\n"
      settlement.residuals = [.init(delayMs: 0, lines: Array(line.utf8))]
      _ = try await store.switches.switchOff(.network(app: "shop", network), reason: "")
      _ = try await store.chunks.settle(
        try await store.claimOne(), settlement, consumer: "worker")
      #expect(try await store.chunks.claim(consumer: "w", max: 1) == [])
      #expect(try await store.switches.switchOn(.network(app: "shop", network)))
      try await hurry(store)
      _ = try await store.chunks.promote(max: 10)
      #expect(try await store.chunks.claim(consumer: "w", max: 1).count == 1)
    }
  }

  @Test func `what has expired is not held, nor beyond its expiry`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      _ = try await store.switches.switchOff(.app("shop"), reason: "")
      let time = try await store.redis("TIME").array ?? []
      let nowMs = (time[0].integer ?? 0) * 1_000 + (time[1].integer ?? 0) / 1_000
      func expire(atMs: Int) async throws {
        _ = try await store.redis("HDEL", store.keys.job(app: "shop", id: "j1"), "expires_at")
        _ = try await store.redis(
          "SET", store.keys.content(app: "shop", id: "j1"), "{\"expires_at\":\(atMs)}")
      }
      try await expire(atMs: nowMs + 1_500)
      #expect(try await store.chunks.claim(consumer: "w", max: 1) == [])
      #expect((try await store.chunks.promote(max: 1).nextDueMs ?? 9_999) <= 1_500)
      try await expire(atMs: nowMs - 1)
      try await hurry(store)
      _ = try await store.chunks.promote(max: 1)
      #expect(try await store.chunks.claim(consumer: "w", max: 1).count == 1)
    }
  }
}

struct NotAsExpected: Error {}
