internal import Model
internal import Redis
internal import Store

// The rates that apps of several shards share, over this lane's connection to the fleet's home.
extension Lane: HomeRates {
  func draw(
    _ rate: RateLimit, wanted: Int
  ) async throws(RedisError) -> (granted: Int, retryMs: UInt64) {
    guard hasShard else { throw Self.ofUnknownShard }
    return try await fleet.rates.draw(rate, wanted: wanted)
  }
}
