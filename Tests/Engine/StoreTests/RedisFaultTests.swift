import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

@Suite struct RedisFaultTests {
  @Test func `flushed functions come back by themselves`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      _ = try await store.redis("FUNCTION", "FLUSH")
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .ok)
      #expect(try await store.record("j1").state == .done)
    }
  }

  @Test func `a wrong type under a key is an error that changes nothing`() async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      _ = try await store.redis("DEL", store.keys.user(app: "shop", user: "u2"))
      _ = try await store.redis("LPUSH", store.keys.user(app: "shop", user: "u2"), "x")
      let error = await failure { try await store.install("u2", "aa") }
      guard case .server("WRONGTYPE", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      let binding = try await store.binding("aa")
      #expect(binding?.installation.user == "u1")
      let tokens = try await store.tokens(of: "u1")
      #expect(tokens == ["aa"])
    }
  }

  @Test func `a counter of another type is an error that takes a device from nobody`() async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      _ = try await store.redis("DEL", store.keys.generation)
      _ = try await store.redis("LPUSH", store.keys.generation, "x")
      let error = await failure { try await store.install("u2", "aa") }
      guard case .server("WRONGTYPE", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await store.binding("aa")?.installation.user == "u1")
      #expect(try await store.tokens(of: "u1") == ["aa"])
      #expect(try await store.tokens(of: "u2").isEmpty)
    }
  }

  @Test func `a first install that fails leaves a store whose later jobs to all reach everybody`()
    async throws
  {
    try await Lane.withStore { _, store in
      let sizes = store.keys.audiences(app: "shop")
      _ = try await store.redis("SET", sizes, "x")
      let error = await failure { try await store.install("u1", "aa") }
      guard case .server("WRONGTYPE", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      _ = try await store.redis("DEL", sizes)
      try await store.install("u1", "aa")
      #expect(try await store.redis("HLEN", store.keys.indexed).integer == 1)
    }
  }

  @Test func `a settlement that cannot write its residual counts nothing, and can be repeated`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      _ = try await store.redis("SET", store.keys.delayed, "x")
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.resolveUser(installations: 1)
      settlement.residuals = [
        Settlement.Residual(delayMs: 1_000, lines: Array("apns\t\taa\t\t\t1\n".utf8))
      ]
      let error = await failure {
        try await store.chunks.settle(claim, settlement, consumer: "worker")
      }
      #expect(error != nil)
      _ = try await store.redis("DEL", store.keys.delayed)
      let answer = try await store.chunks.settle(claim, settlement, consumer: "worker")
      #expect(answer.standing == .ok)
      let record = try await store.record("j1")
      #expect(record.pending == 1 && record.isBalanced)
    }
  }

  @Test func `a full Redis takes no new work, finishes what it has and can be told to stop`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      try await store.admit("j1", users: [["u1"]])
      let claim = try await store.claimOne()
      _ = try await store.redis("CONFIG", "SET", "maxmemory", "1")
      let error = await failure { try await store.install("u2", "bb") }
      #expect(error?.isTemporary == true)
      let app = KillSwitch.app("shop")
      guard case .off = try await store.switches.switchOff(app, reason: "full") else {
        Issue.record("it cannot be switched off")
        return
      }
      #expect(try await store.switches.switchOn(app))
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .ok)
      _ = try await store.redis("CONFIG", "SET", "maxmemory", "0")
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.accepted == 1)
    }
  }

  @Test func `a deleted stream makes its chunks stale, and new work goes on`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      _ = try await store.redis("DEL", store.keys.chunks(.normal))
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .stale)
      try await store.admit("j2", users: [["b"]])
      let next = try await store.claimOne()
      #expect(next.job == "j2")
    }
  }

  @Test func `a segment that vanished makes a dead letter and the job still ends`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a", "b"]])
      for key in try await store.allKeys() where key.contains(":segment:") {
        _ = try await store.redis("DEL", key)
      }
      let claims = try await store.chunks.claim(consumer: "w", max: 1)
      #expect(claims == [])
      let record = try await store.record("j1")
      #expect(record.state == .done && record.counts.failed == 2 && record.isBalanced)
      let letters = try await store.deadLetters.list(max: 1)
      #expect(letters.map(\.reason) == ["segment_missing"])
    }
  }

  @Test func `acknowledged work survives the death of Redis`() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    try await Lane.withServer(options) { lane, server in
      let connection = try await lane.connect(server)
      let store = ShardStore(connection: connection, prefix: "pp")
      try await store.admit("j1", users: [["a"], ["b"]])
      let claim = try await store.claimOne()
      await server.kill9()
      let error = await failure {
        try await store.chunks.settle(claim, .final(accepted: 1, users: 1), consumer: "worker")
      }
      #expect(error?.isTemporary == true)
      try await server.restart()
      try await connection.waitUntilReady(timeoutMs: 30_000)
      let answer = try await store.chunks.settle(
        claim, .final(accepted: 1, users: 1), consumer: "worker")
      #expect(answer.standing == .ok)
      let next = try await store.claimOne()
      #expect(next.recipientList == ["b"])
      connection.close()
    }
  }
}
