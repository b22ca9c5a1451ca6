package import Reactor
package import Redis
package import Store

internal import PushpoolConfiguration
internal import Worker

/// The connection by which an actor that watches workers from outside talks to Redis: a loop of its own, a connection
/// on it and the store behind that; loop-bound.
package final class StoreAccess {
  package let loop: EventLoop
  package let connection: RedisConnection
  package let store: ShardStore

  /// - Parameters:
  ///   - loop: one of the actor's own, which ends with `close`.
  ///   - url: as in the configuration, as is the prefix.
  /// - Throws: `ConfigurationError` for a URL that is none.
  package init(
    loop: EventLoop, url: String, prefix: String? = nil,
    library: FunctionLibrary = StoreLibrary.library
  ) throws {
    self.loop = loop
    let prefix = prefix ?? RedisConfiguration.prefixDefault
    var endpoint = try RedisEndpoint(RedisConfiguration(url: RedisURL(url), prefix: prefix))
    // Whoever tries what a failover does has a replica become the primary.
    endpoint.needsPrimary = false
    connection = try RedisConnection(loop: loop, endpoint: endpoint, library: library)
    store = ShardStore(connection: connection, prefix: prefix)
  }

  /// Returns when the server has answered; fails when it has not after `timeoutMs`.
  package func connect(timeoutMs: UInt64) async throws {
    connection.connect()
    try await connection.waitUntilReady(timeoutMs: timeoutMs)
  }

  package func close() {
    connection.close()
    loop.stop()
  }
}
