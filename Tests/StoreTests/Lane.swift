import LocalServices
import Model
import Reactor
import Redis
import Store

/// A loop with an actor on it, and the store of a server of its own.
actor Lane {
  nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private init() throws {
    loop = try EventLoop(name: "test")
    loop.start()
  }

  /// Runs the body beside a Redis of its own.
  static func withServer<Value: Sendable>(
    _ options: RedisServer.Options = RedisServer.Options(),
    _ body: @Sendable (isolated Lane, RedisServer) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with(options) { server in
      let lane = try Lane()
      defer { lane.loop.stop() }
      return try await body(lane, server)
    }
  }

  /// Runs the body on the store of an empty Redis.
  static func withStore<Value: Sendable>(
    _ options: RedisServer.Options = RedisServer.Options(),
    _ body: @Sendable (isolated Lane, Store) async throws -> Value
  ) async throws -> Value {
    try await withServer(options) { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      return try await body(lane, Store(connection: connection, prefix: "{pp}"))
    }
  }

  /// Runs the body on a lane and a connection of its own.
  static func withConnection<Value: Sendable>(
    _ server: RedisServer, library: FunctionLibrary,
    _ body: @Sendable (isolated Lane, RedisConnection) async throws -> Value
  ) async throws -> Value {
    let lane = try Lane()
    defer { lane.loop.stop() }
    return try await lane.within(server, library, body)
  }

  private func within<Value: Sendable>(
    _ server: RedisServer, _ library: FunctionLibrary,
    _ body: @Sendable (isolated Lane, RedisConnection) async throws -> Value
  ) async throws -> Value {
    let connection = try await connect(server, library: library)
    defer { connection.close() }
    return try await body(self, connection)
  }

  /// A connection that is ready.
  func connect(
    _ server: RedisServer, library: FunctionLibrary = StoreLibrary.library
  ) async throws -> RedisConnection {
    let connection = try RedisConnection(
      loop: loop, endpoint: RedisEndpoint(endpoint: .unix(path: server.socketPath)),
      library: library)
    connection.connect()
    try await connection.waitUntilReady(timeoutMs: 10_000)
    return connection
  }
}

/// The error that the body throws. Unlike `#expect(throws:)`, whose closure runs anywhere, this one stays on the
/// lane that the store belongs to.
func failure<Value>(_ body: () async throws -> Value) async -> RedisError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? RedisError
  }
}
