internal import Logging
internal import Model
internal import Redis
internal import Store

/// Adds the answer times of a lane to those of the fleet's minute; loop-bound.
struct LatencyReporter {
  let metrics: MetricsStore
  let clock: FleetClock
  let log: Logger

  /// - Parameter counted: since the last report. Lost when Redis cannot be asked.
  func report(_ counted: [(network: Network, boundMs: UInt64, count: Int)]) async {
    let counts = counted.map {
      LatencyCount(network: $0.network, boundMs: Int($0.boundMs), count: $0.count)
    }
    guard !counts.isEmpty else { return }
    do throws(RedisError) {
      let minute = Minute.name(epochSeconds: clock.nowMs / 1_000)
      try await metrics.recordLatency(counts, minute: minute)
    } catch { log.debug("latency: \(error)") }
  }
}
