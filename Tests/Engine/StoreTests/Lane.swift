import LocalServices
import Reactor
import Redis
import Store
import TestSupport

/// A loop with an actor on it, and the store of a server of its own.
enum Lane {
  /// Runs the body beside a Redis of its own.
  static func withServer<Value: Sendable>(
    _ options: RedisServer.Options = RedisServer.Options(),
    _ body: @Sendable (isolated TestLane, RedisServer) async throws -> Value
  ) async throws -> Value {
    try await TestLane.withRedis(options, body)
  }

  /// Runs the body on the store of an empty Redis.
  static func withStore<Value: Sendable>(
    _ options: RedisServer.Options = RedisServer.Options(),
    _ body: @Sendable (isolated TestLane, ShardStore) async throws -> Value
  ) async throws -> Value {
    try await withServer(options) { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      return try await body(lane, ShardStore(connection: connection, prefix: "{pp}"))
    }
  }

  /// Runs the body on a lane and a connection of its own.
  static func withConnection<Value: Sendable>(
    _ server: RedisServer, library: FunctionLibrary,
    _ body: @Sendable (isolated TestLane, RedisConnection) async throws -> Value
  ) async throws -> Value {
    try await TestLane.run { lane in
      let connection = try await lane.connect(server, library: library)
      defer { connection.close() }
      return try await body(lane, connection)
    }
  }
}
