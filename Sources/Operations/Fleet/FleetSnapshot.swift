package import Model
package import PushpoolConfiguration
package import Redis
package import Store

/// Everything that one screen says of the fleet, at one moment.
package struct FleetSnapshot: Sendable {
  /// The first store's clock in whole seconds, as epoch milliseconds: ages are told by it.
  package let nowMs: Int64
  /// By name each once, as it beat last, however many stores it beats in.
  package private(set) var workers: [WorkerStatus] = []
  package private(set) var queues = QueueStatus()
  /// Chunks that workers hold now.
  package private(set) var held: [Priority: Int] = [:]
  /// `<app>|<network>|<outcome>` of the last full minute and of the one that runs.
  package private(set) var lastMinute: [String: Int] = [:]
  package private(set) var thisMinute: [String: Int] = [:]
  /// Each once, oldest first: one about a shard once for each shard.
  package private(set) var alarms: [Alarm] = []
  package private(set) var switches = SwitchReading()
  /// Each shard that was read.
  package private(set) var shards: [ShardStanding] = []

  private init(nowMs: Int64) { self.nowMs = nowMs }

  /// Adds up what the stores of shards say, whose clocks may differ. It only reads, and needs no functions.
  package static func read(_ stores: [ShardStore]) async throws(RedisError) -> FleetSnapshot {
    var snapshot: FleetSnapshot?
    for store in stores {
      let seconds = try await store.serverSeconds()
      var sum = snapshot ?? FleetSnapshot(nowMs: seconds * 1_000)
      let aheadMs = seconds * 1_000 - sum.nowMs
      let held = try await store.backlog.heldChunks()
      sum.add(held)
      sum.add(
        try await readable([]) { () async throws(RedisError) in try await store.workers.all() }
          .map { $0.byClock(behindMs: aheadMs) })
      let queues = try await store.backlog.status()
      sum.queues.add(queues)
      // By the clock of the server that counted them.
      sum.add(
        last: try await outcomes(store, seconds - 60), this: try await outcomes(store, seconds))
      sum.add(
        try await readable([]) { () async throws(RedisError) in
          try await store.alarms.current(nowMs: seconds * 1_000)
        }.map { $0.byClock(behindMs: aheadMs).of(store.id) })
      sum.add(
        try await store.keyTypes.alarms(nowMs: seconds * 1_000).map {
          $0.byClock(behindMs: aheadMs).of(store.id)
        })
      sum.switches.add(
        try await readable(SwitchReading()) { () async throws(RedisError) in
          try await store.switches.glance()
        })
      if let alarm = try await store.settings.refusalOfWrites(nowMs: seconds * 1_000) {
        sum.add([alarm.byClock(behindMs: aheadMs).of(store.id)])
      }
      sum.shards.append(
        ShardStanding(
          shard: store.id, nowMs: seconds * 1_000, queues: queues, held: held,
          redis: try await store.settings.readAllowed()))
      snapshot = sum
    }
    return snapshot ?? FleetSnapshot(nowMs: 0)
  }

  private static func outcomes(
    _ store: ShardStore, _ seconds: Int64
  ) async throws(RedisError) -> [String: Int] {
    try await readable([:]) { () async throws(RedisError) in
      try await store.metrics.minute(Minute.name(epochSeconds: seconds))
    }
  }

  private mutating func add(_ held: [Priority: Int]) {
    self.held.merge(held) { $0 + $1 }
  }

  private mutating func add(last: [String: Int], this: [String: Int]) {
    lastMinute.merge(last) { $0 + $1 }
    thisMinute.merge(this) { $0 + $1 }
  }

  /// A worker beats in every store that it serves, and each beat tells of the whole worker.
  private mutating func add(_ others: [WorkerStatus]) {
    for other in others {
      guard let index = workers.firstIndex(where: { $0.worker == other.worker }) else {
        workers.append(other)
        continue
      }
      if other.lastBeatMs > workers[index].lastBeatMs { workers[index] = other }
    }
  }

  /// A worker raises alarms about itself in every store that it serves; the oldest says since when.
  private mutating func add(_ others: [Alarm]) {
    for other in others {
      guard let index = alarms.firstIndex(where: other.isSame) else {
        alarms.append(other)
        continue
      }
      if other.atMs < alarms[index].atMs { alarms[index] = other }
    }
    alarms.sort { ($0.atMs, $0.field) < ($1.atMs, $1.field) }
  }

  /// Whether a worker has beaten of late.
  package func isAlive(_ worker: WorkerStatus) -> Bool {
    nowMs - worker.lastBeatMs < OperationsLimits.workerSilentMs
  }

  package var living: [WorkerStatus] { workers.filter(isAlive) }

  /// Workers that fell silent without leaving.
  package var lost: [WorkerStatus] { workers.filter { !isAlive($0) && !$0.fields.isEmpty } }

  /// Chunks that no worker holds.
  package func waiting(_ priority: Priority) -> Int {
    max(0, (queues.chunks[priority] ?? 0) - (held[priority] ?? 0))
  }

  /// Returns what of the Redis of a shard is unsafe and not accepted, and has no alarm, as where no worker looks.
  package func untoldRisks(
    of settings: RedisSettings, in shard: ShardID, accepting accepted: Set<RedisRisk>
  ) -> [RedisSettings.Finding] {
    settings.risks(accepting: accepted).filter { finding in
      !alarms.contains {
        $0.field == AlarmKind.unsafeRedis.field(finding.risk.rawValue)
          && $0.shard ?? shard == shard
      }
    }
  }

  /// Returns the fields of the alarms that stand, and of those that a worker would raise of how Redis is set up.
  package func alarmFields(accepting accepted: AcceptedRisks) -> [String] {
    var fields: [String] = []
    // Two shards may have one alike.
    for field in alarms.map(\.field) where !fields.contains(field) { fields.append(field) }
    for shard in shards {
      guard let settings = shard.redis else { continue }
      for finding in untoldRisks(
        of: settings, in: shard.shard, accepting: accepted[shard.shard])
      {
        let field = AlarmKind.unsafeRedis.field(finding.risk.rawValue)
        if !fields.contains(field) { fields.append(field) }
      }
    }
    return fields
  }

  /// Counters of both minutes by name, in order: app, network, outcome.
  package var outcomes: [(names: [String], last: Int, this: Int)] {
    Set(lastMinute.keys).union(thisMinute.keys).sorted().map { name in
      let parts = name.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      return (parts, lastMinute[name] ?? 0, thisMinute[name] ?? 0)
    }
  }
}
