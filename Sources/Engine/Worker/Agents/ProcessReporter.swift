internal import Logging
internal import Reactor
internal import Redis
internal import Store

/// Says that a worker lives and what it does, over a lane's connection; loop-bound.
struct ProcessReporter {
  let store: ShardStore
  let loop: EventLoop
  let clock: FleetClock
  let log: Logger

  /// Beats, and learns what time it is in Redis.
  func beat(worker: String, fields: [(String, String)]) async {
    do throws(RedisError) {
      let sentNs = loop.nowNs
      let serverMs = try await store.workers.beat(worker: worker, fields: fields)
      clock.learn(serverMs: serverMs, sentNs: sentNs, receivedNs: loop.nowNs)
    } catch { log.debug("beat: \(error)") }
  }

  func appendTimeline(_ statistics: LaneStatistics, acceptedPerSecond: Int) async {
    do throws(RedisError) {
      let status = try await store.backlog.status()
      let backlog = status.jobs.values.reduce(0, +) + status.chunks.values.reduce(0, +)
      let oldestMs = try await store.backlog.oldestWaitingMs()
      try await store.metrics.appendTimeline([
        ("backlog", String(backlog)), ("oldest_ready_ms", String(oldestMs)),
        ("delayed", String(status.delayed)),
        ("in_flight", String(statistics.inFlight)),
        ("accepted_per_second", String(acceptedPerSecond)),
        ("ended", String(try await store.metrics.endedCount())),
      ])
    } catch { log.debug("timeline: \(error)") }
  }
}
