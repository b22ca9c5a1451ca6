internal import Model
internal import Redis
internal import Store

/// Everything that one screen says of the fleet, at one moment.
struct FleetSnapshot: Sendable {
  /// The server's clock, epoch milliseconds: ages are told by it.
  var nowMs: Int64
  var workers: [WorkerStatus]
  var queues: QueueStatus
  /// Chunks that workers hold now.
  var held: [Priority: Int]
  /// `<app>|<network>|<outcome>` of the last full minute and of the one that runs.
  var lastMinute: [String: Int]
  var thisMinute: [String: Int]
  var alarms: [Alarm]
  var switches: SwitchReading

  static func read(_ store: Store) async throws(RedisError) -> FleetSnapshot {
    let time = try await store.connection.call(RedisCommand("TIME"))
    let told = Int64(time.array?.first?.integer ?? 0)
    let seconds = min(max(told, 0), Limits.instantMsMax / 1_000)
    var held: [Priority: Int] = [:]
    for priority in Priority.allCases {
      held[priority] = try await pending(store.keys.chunks(priority), store)
    }
    return FleetSnapshot(
      nowMs: seconds * 1_000, workers: try await store.metrics.workers(),
      queues: try await store.metrics.status(), held: held,
      lastMinute: try await store.metrics.minute(Minute.name(epochSeconds: seconds - 60)),
      thisMinute: try await store.metrics.minute(Minute.name(epochSeconds: seconds)),
      alarms: try await store.alarms.current(nowMs: seconds * 1_000),
      switches: try await store.switches.glance())
  }

  /// Entries that the consumer group holds; none when it does not exist yet.
  private static func pending(_ stream: String, _ store: Store) async throws(RedisError) -> Int {
    do throws(RedisError) {
      return try await store.connection.call(RedisCommand("XPENDING", stream, "workers")) {
        $0.count > 0 ? StoredNumber.count($0[0].integer ?? 0) : 0
      }
    } catch {
      if case .server("NOGROUP", _) = error { return 0 }
      throw error
    }
  }

  var living: [WorkerStatus] {
    workers.filter { nowMs - $0.lastBeatMs < CommandLineLimits.workerSilentMs }
  }

  func waiting(_ priority: Priority) -> Int {
    max(0, (queues.chunks[priority] ?? 0) - (held[priority] ?? 0))
  }

  /// Counters of both minutes by name, in order: app, network, outcome.
  var outcomes: [(names: [String], last: Int, this: Int)] {
    Set(lastMinute.keys).union(thisMinute.keys).sorted().map { name in
      let parts = name.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      return (parts, lastMinute[name] ?? 0, thisMinute[name] ?? 0)
    }
  }
}
