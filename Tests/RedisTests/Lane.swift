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

  /// Connects, and tells why that failed. The connection goes on trying, so only the first loss may
  /// resume the caller.
  func firstLoss(of connection: RedisConnection) async -> RedisError {
    defer { connection.onLost = nil }
    return await withUnsafeContinuation { continuation in
      var isTold = false
      connection.onLost = { reason in
        guard !isTold else { return }
        isTold = true
        continuation.resume(returning: reason)
      }
      connection.connect()
    }
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
