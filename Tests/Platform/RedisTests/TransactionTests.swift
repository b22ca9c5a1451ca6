import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

@Suite struct TransactionTests {
  private func set(_ key: String, _ value: String) -> RedisCommand {
    RedisCommand("SET", key, value)
  }

  @Test func `commands that do not all fit are not sent at all`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      let commands = (0...RedisLimits.pendingCommandsMax).map { set("k\($0)", "v") }
      await #expect(throws: RedisError.tooManyPending) {
        try await connection.transaction(commands) { $0.count }
      }
      #expect(try await connection.call(RedisCommand("DBSIZE")).integer == 0)
      #expect(try await connection.call(RedisCommand("ECHO", "mine")).string == "mine")
      connection.close()
    }
  }

  @Test func `a watched key that changed makes it void`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      _ = try await connection.call(RedisCommand("WATCH", "a"))
      _ = try await connection.call(set("a", "another's"))
      let isVoid = try await connection.transaction([set("a", "mine")]) { $0.isNull }
      #expect(isVoid)
      #expect(try await connection.call(RedisCommand("GET", "a")).string == "another's")
      connection.close()
    }
  }
}
