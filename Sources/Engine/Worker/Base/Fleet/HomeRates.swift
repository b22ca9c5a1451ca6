internal import Model
internal import Redis

/// A connection to the fleet's home, over which lanes of other shards draw from the rates that apps of several shards share.
/// Asked for an allowance, and never for a push.
protocol HomeRates: Sendable {
  /// Takes up to so many tokens, as `RateStore.draw`.
  func draw(
    _ rate: RateLimit, wanted: Int
  ) async throws(RedisError) -> (granted: Int, retryMs: UInt64)
}
