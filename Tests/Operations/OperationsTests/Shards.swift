import LocalServices
import Model
import Operations
import Redis
import Store
import TestSupport

/// Two shards of a fleet on one server, `main` and `eu`: two prefixes. The first is its home.
enum Shards {
  /// Runs the body on the stores of two empty shards.
  static func withStores<Value: Sendable>(
    _ body: @Sendable (isolated TestLane, [ShardStore]) async throws -> Value
  ) async throws -> Value {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint, library: StoreLibrary.library)
      defer { connection.close() }
      let stores = try ["main", "eu"].map { name in
        ShardStore(connection: connection, prefix: "{pp:\(name)}", id: try ShardID(name))
      }
      return try await body(lane, stores)
    }
  }

  /// Runs the body on what the fleet has once, and on the stores of two empty shards.
  static func withFleet<Value: Sendable>(
    _ body: @Sendable (FleetStore, [ShardStore]) async throws -> Value
  ) async throws -> Value {
    try await withStores { lane, stores in
      let home = stores[0]
      return try await body(
        FleetStore(connection: home.connection, prefix: home.keys.prefix), stores)
    }
  }
}
