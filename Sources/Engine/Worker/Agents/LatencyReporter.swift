internal import Logging
internal import Redis
internal import Store

/// Adds the answer times of a lane to those of the fleet's minute; loop-bound.
struct LatencyReporter {
  let histogram: LatencyHistogram
  let metrics: MetricsStore
  let clock: FleetClock
  let log: Logger

  /// Adds those since the last report. Lost when Redis cannot be asked.
  func report() async {
    let counts = histogram.takeAll().map {
      LatencyCount(network: $0.network, boundMs: Int($0.boundMs), count: $0.count)
    }
    guard !counts.isEmpty else { return }
    do throws(RedisError) {
      let minute = Minute.name(epochSeconds: clock.nowMs / 1_000)
      try await metrics.recordLatency(counts, minute: minute)
    } catch { log.debug("latency: \(error)") }
  }
}
