internal import Model
internal import Redis
internal import Store

/// Takes what a lane needs of the rates that the fleet keeps to; loop-bound.
struct RateKeeper {
  let rates: RateStore
  let reasons: ReasonLog

  /// Asks the fleet for so much of a rate, and tells the lane's part of it what came of that.
  func obtain(_ wanted: Int, for allowance: RateAllowance) async {
    do throws(RedisError) {
      let answer = try await rates.draw(allowance.current, wanted: wanted)
      allowance.granted(answer.granted, retryMs: answer.retryMs)
    } catch {
      reasons.note("sending at the rate \(allowance.limit.name) waits for Redis: \(error)")
      allowance.failed()
    }
  }
}
