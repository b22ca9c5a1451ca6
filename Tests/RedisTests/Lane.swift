import LocalServices
import Reactor
import Redis

/// A loop with an actor on it: what the tests run on, as the program's lanes do.
actor Lane {
  nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private init() throws {
    loop = try EventLoop(name: "test")
    loop.start()
  }

  /// Runs the body on a loop of its own.
  static func with<Value: Sendable>(
    _ body: @Sendable (isolated Lane) async throws -> Value
  ) async throws -> Value {
    let lane = try Lane()
    defer { lane.loop.stop() }
    return try await body(lane)
  }

  /// Runs the body on a loop of its own beside a server of its own.
  static func withRedis<Value: Sendable>(
    _ options: RedisServer.Options = RedisServer.Options(),
    _ body: @Sendable (isolated Lane, RedisServer) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with(options) { server in
      try await Lane.with { lane in try await body(lane, server) }
    }
  }

  /// A connection that is ready.
  func connect(
    _ endpoint: RedisEndpoint, library: FunctionLibrary? = nil
  ) async throws -> RedisConnection {
    let connection = try RedisConnection(loop: loop, endpoint: endpoint, library: library)
    connection.connect()
    try await connection.waitUntilReady(timeoutMs: 10_000)
    return connection
  }
}

extension RedisServer {
  nonisolated var endpoint: RedisEndpoint { RedisEndpoint(endpoint: .unix(path: socketPath)) }
}

/// The error that the body throws. Unlike `#expect(throws:)`, whose closure runs anywhere, this one stays on the
/// lane that the connection belongs to.
func failure<Value>(_ body: () async throws -> Value) async -> RedisError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? RedisError
  }
}
