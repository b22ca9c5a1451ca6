internal import Model
internal import Redis
internal import Store

/// Takes what a lane needs of the rates that the fleet keeps to; loop-bound.
struct RateKeeper {
  /// The rates of the lane's shard.
  let rates: RateStore
  /// The home's; nil for a lane of the home.
  let home: (any HomeRates)?
  let snapshot: LaneSnapshot
  let reasons: ReasonLog

  /// Asks the fleet for so much of a rate, and tells the lane's part of it what came of that.
  func obtain(_ wanted: Int, for allowance: RateAllowance) async {
    do throws(RedisError) {
      let answer = try await draw(allowance.current, wanted: wanted)
      allowance.granted(answer.granted, retryMs: answer.retryMs)
    } catch {
      reasons.note("sending at the rate \(allowance.limit.name) waits for Redis: \(error)")
      allowance.failed()
    }
  }

  /// A rate that apps of other shards keep to as well stands at home, any other beside its app.
  private func draw(
    _ rate: RateLimit, wanted: Int
  ) async throws(RedisError) -> (granted: Int, retryMs: UInt64) {
    if let home, snapshot.current.sharedRates.contains(rate.name) {
      return try await home.draw(rate, wanted: wanted)
    }
    return try await rates.draw(rate, wanted: wanted)
  }
}
