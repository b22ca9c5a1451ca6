import LocalServices
import Operations
import Redis
import Store
import TestSupport

/// Two partitions of a fleet on one server: two prefixes.
enum Partitions {
  /// Runs the body on the stores of two empty partitions.
  static func withStores<Value: Sendable>(
    _ body: @Sendable (isolated TestLane, [Store]) async throws -> Value
  ) async throws -> Value {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint, library: StoreLibrary.library)
      defer { connection.close() }
      let stores = ["{pp:0}", "{pp:1}"].map { Store(connection: connection, prefix: $0) }
      return try await body(lane, stores)
    }
  }
}
