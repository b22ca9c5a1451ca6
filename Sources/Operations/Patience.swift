internal import Reactor
package import Redis
package import Store

/// How long the caller of long work waits for it: through how many failures of a store, and for how long at all.
package struct Patience {
  /// How often a step is tried while its store is away or refuses for a while; at least 1.
  private let attemptsMax: Int
  /// Between two tries of a step.
  private let retryMs: UInt64
  /// The longest that a lost connection is waited for.
  private let reconnectTimeoutMs: UInt64
  private let goesOn: () -> Bool

  /// Without limits, the first failure ends the work.
  /// - Parameter goesOn: asked between two steps, and while a store is away; false ends the work.
  package init(
    attemptsMax: Int = 1, retryMs: UInt64 = 0, reconnectTimeoutMs: UInt64 = 0,
    goesOn: @escaping () -> Bool = { true }
  ) {
    self.attemptsMax = attemptsMax
    self.retryMs = retryMs
    self.reconnectTimeoutMs = reconnectTimeoutMs
    self.goesOn = goesOn
  }

  /// Whether the caller still wants the work.
  var isLeft: Bool { goesOn() }

  /// Does what may be repeated, and does it again after each failure that may pass.
  /// - Throws: as `wait`.
  package func repeating<Value>(
    on store: ShardStore, _ body: (ShardStore) async throws(RedisError) -> Value
  ) async throws(OperationError) -> Value {
    try await repeating(over: store.connection) { () async throws(RedisError) in
      try await body(store)
    }
  }

  /// Does at the fleet's home what may be repeated, as `repeating(on:)`.
  package func repeating<Value>(
    at fleet: FleetStore, _ body: (FleetStore) async throws(RedisError) -> Value
  ) async throws(OperationError) -> Value {
    try await repeating(over: fleet.connection) { () async throws(RedisError) in
      try await body(fleet)
    }
  }

  private func repeating<Value>(
    over connection: RedisConnection, _ body: () async throws(RedisError) -> Value
  ) async throws(OperationError) -> Value {
    var attempt = 1
    while true {
      let failure: RedisError
      do throws(RedisError) { return try await body() } catch { failure = error }
      try await wait(for: connection, after: failure, attempt: attempt)
      attempt += 1
    }
  }

  /// Waits until what failed for the nth time may be tried again.
  /// - Throws: `.redis` when it failed for good or was tried often enough; `.stopped`.
  package func wait(
    for store: ShardStore, after failure: RedisError, attempt: Int
  ) async throws(OperationError) {
    try await wait(for: store.connection, after: failure, attempt: attempt)
  }

  private func wait(
    for connection: RedisConnection, after failure: RedisError, attempt: Int
  ) async throws(OperationError) {
    guard failure.isTemporary, attempt < attemptsMax else { throw .redis(failure) }
    let loop = connection.loop
    // A server that refuses (OOM, LOADING) leaves the connection ready; give it time as well.
    await loop.sleep(ms: retryMs)
    let endNs = loop.nowNs + reconnectTimeoutMs * 1_000_000
    while true {
      guard goesOn() else { throw .stopped }
      do throws(RedisError) {
        return try await connection.waitUntilReady(timeoutMs: retryMs)
      } catch {
        guard error == .timeout, loop.nowNs < endNs else { throw .redis(error) }
      }
    }
  }
}
