package import LocalServices
import Reactor
package import Redis

extension TestLane {
  /// Runs the body on a loop of its own beside a server of its own.
  package static func withRedis<Value: Sendable>(
    _ options: RedisServer.Options = RedisServer.Options(),
    _ body: @Sendable (isolated TestLane, RedisServer) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with(options) { server in
      try await TestLane.run { lane in try await body(lane, server) }
    }
  }

  /// A connection that is ready.
  package func connect(
    _ endpoint: RedisEndpoint, library: FunctionLibrary? = nil
  ) async throws -> RedisConnection {
    let connection = try RedisConnection(loop: loop, endpoint: endpoint, library: library)
    connection.connect()
    try await connection.waitUntilReady(timeoutMs: 30_000)
    return connection
  }
}
