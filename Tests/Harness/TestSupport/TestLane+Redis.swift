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

  /// How long Redis may take for what a test asks of it: as long as a machine may take that others keep busy.
  package static let patienceMs: UInt64 = 60_000

  /// A connection that is ready.
  /// - Parameter patienceMs: the least time that an answer has; 0 where the time itself is tried.
  package func connect(
    _ endpoint: RedisEndpoint, library: FunctionLibrary? = nil,
    patienceMs: UInt64 = TestLane.patienceMs
  ) async throws -> RedisConnection {
    let connection = try RedisConnection(loop: loop, endpoint: endpoint, library: library)
    connection.patienceMs = patienceMs
    connection.connect()
    try await connection.waitUntilReady(timeoutMs: 30_000)
    return connection
  }
}
