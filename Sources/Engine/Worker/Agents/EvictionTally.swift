/// How many keys Redis has evicted of late, by its counter since it started. A value.
struct EvictionTally: Sendable {
  /// Keys that were evicted while they were watched, until for so long none was; 0 for none.
  private(set) var count = 0
  private var last: Int?
  private var grownNs: UInt64 = 0

  /// - Parameter total: since the server started; less than the last time after a restart.
  mutating func note(_ total: Int, nowNs: UInt64) {
    defer { last = total }
    if let last, total > last {
      count += total - last
      grownNs = nowNs
    } else if nowNs &- grownNs >= WorkerLimits.evictedToldMs * 1_000_000 {
      count = 0
    }
  }
}
