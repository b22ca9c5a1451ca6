/// The pace at which chunks come back that are put aside whole because their network is silent. All of a backlog would be claimed
/// from Redis and put aside again every two seconds otherwise, by lanes that have nothing else to do. Times are the loop's.
struct ReturnPace {
  /// When the next chunk may come back.
  private var nextNs: UInt64 = 0

  /// For how long to put another chunk aside: behind those before it, but no longer than `WorkerLimits.returnMsMax`.
  /// - Parameter leastMs: how long it would be put aside by itself.
  mutating func delayMs(atLeast leastMs: UInt64, nowNs: UInt64) -> UInt64 {
    let atNs = max(nextNs, nowNs &+ leastMs &* 1_000_000)
    let delayMs = (atNs &- nowNs) / 1_000_000
    guard delayMs < WorkerLimits.returnMsMax else { return max(leastMs, WorkerLimits.returnMsMax) }
    nextNs = atNs &+ WorkerLimits.returnGapNs
    return delayMs
  }
}
