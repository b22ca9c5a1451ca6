package import Model
package import Redis
package import Store

/// The figures of a fleet at one moment, for monitors. Reading them takes Redis some 20 commands, one more for each worker and one for
/// each open job: `OperationsLimits` bounds both.
package struct FleetMetrics: Sendable {
  /// The first store's clock in whole seconds, as epoch milliseconds.
  package let nowMs: Int64
  package private(set) var totals = OutcomeTotals()
  package private(set) var queues = QueueStatus()
  /// For how long the oldest work of a priority waits; none where no worker has ever looked.
  package private(set) var oldestMs: [Priority: Int64] = [:]
  /// Recipients of running jobs that have not ended.
  package private(set) var backlog: [Priority: Int] = [:]
  /// Open jobs by state, of those that were looked at.
  package private(set) var jobs: [JobState: Int] = [:]
  package private(set) var unreadJobs = 0
  /// By name, each once, as it beat last.
  package private(set) var workers: [String: WorkerStatus] = [:]
  package private(set) var workerCount = 0
  package private(set) var alarms: [Alarm] = []
  /// Of each shard that was read; nil of one that does not let itself be asked.
  package private(set) var redis: [(shard: ShardID, settings: RedisSettings?)] = []
  /// Shards that were not read; nil in a fleet that has one.
  package private(set) var unreadShards: Int?

  private init(nowMs: Int64) { self.nowMs = nowMs }

  /// Adds up what the stores of shards say, whose clocks may differ. It only reads, and needs no functions.
  /// - Parameter shards: how many the fleet has.
  package static func read(
    _ stores: [ShardStore], of shards: Int? = nil
  ) async throws(RedisError) -> FleetMetrics {
    var metrics: FleetMetrics?
    for store in stores {
      let nowMs = try await store.serverSeconds() * 1_000
      var sum = metrics ?? FleetMetrics(nowMs: nowMs)
      try await sum.readWork(store, nowMs)
      try await sum.readJobs(store, nowMs)
      try await sum.readFleet(store, nowMs)
      metrics = sum
    }
    var all = metrics ?? FleetMetrics(nowMs: 0)
    if let shards, shards > 1 { all.unreadShards = max(0, shards - stores.count) }
    return all
  }

  private mutating func readWork(_ store: ShardStore, _ nowMs: Int64) async throws(RedisError) {
    totals.add(
      try await readable(OutcomeTotals()) { () async throws(RedisError) in
        try await store.metrics.totals(max: OperationsLimits.pushSeriesMax)
      })
    let queues = try await store.backlog.status()
    self.queues.add(queues)
    let notes = try await readable(WaitingNotes()) { () async throws(RedisError) in
      try await store.backlog.waitingNotes()
    }
    for priority in Priority.allCases {
      let length = (queues.jobs[priority] ?? 0) + (queues.chunks[priority] ?? 0)
      guard
        let ms = Self.oldestMs(
          since: notes.sinceMs[priority], lookedAtMs: notes.atMs, isEmpty: length == 0, nowMs: nowMs
        )
      else { continue }
      oldestMs[priority] = max(oldestMs[priority] ?? 0, ms)
    }
  }

  /// For how long the oldest work waits. Workers look each few seconds. When none of them is left, what waits has waited no longer than
  /// since the last look, if nothing did then.
  package static func oldestMs(
    since sinceMs: Int64?, lookedAtMs: Int64?, isEmpty: Bool, nowMs: Int64
  ) -> Int64? {
    guard let lookedAtMs else { return nil }
    if isEmpty { return 0 }
    if let sinceMs { return max(0, nowMs - sinceMs) }
    let unseenMs = nowMs - lookedAtMs
    return unseenMs > OperationsLimits.unseenWorkMs ? unseenMs : 0
  }

  private mutating func readJobs(_ store: ShardStore, _ nowMs: Int64) async throws(RedisError) {
    let open = try await readable(0) { () async throws(RedisError) in
      try await store.jobs.openCount()
    }
    guard open > 0 else { return }
    var found: [(app: String, id: String)] = []
    var cursor = "0"
    var pages = 0
    repeat {
      pages += 1
      let page = try await store.jobs.openJobs(cursor: cursor)
      found += page.jobs
      cursor = page.cursor
    } while cursor != "0" && found.count < OperationsLimits.meteredJobsMax
      && pages < OperationsLimits.meteredJobsMax
    // A set that changes while it is scanned may tell of a member twice.
    var seen: Set<String> = []
    found.removeAll { !seen.insert("\($0.app):\($0.id)").inserted }
    let read = Array(found.prefix(OperationsLimits.meteredJobsMax))
    unreadJobs += max(0, open - read.count)
    for job in try await store.jobs.standings(read) {
      jobs[job.state, default: 0] += 1
      if job.isSending(atMs: nowMs) { backlog[job.priority, default: 0] += job.pending }
    }
  }

  private mutating func readFleet(_ store: ShardStore, _ nowMs: Int64) async throws(RedisError) {
    let beating = try await readable((count: 0, read: [WorkerStatus]())) {
      () async throws(RedisError) in
      try await store.workers.beating(
        sinceMs: nowMs - OperationsLimits.workerSilentMs, max: OperationsLimits.meteredWorkersMax)
    }
    // A worker beats in every store that it serves.
    workerCount = max(workerCount, beating.count)
    for worker in beating.read.map({ $0.byClock(behindMs: nowMs - self.nowMs) }) {
      if let other = workers[worker.worker], other.lastBeatMs >= worker.lastBeatMs { continue }
      workers[worker.worker] = worker
    }
    workerCount = max(workerCount, workers.count)
    let raised = try await readable([Alarm]()) { () async throws(RedisError) in
      try await store.alarms.current(nowMs: nowMs)
    }.map { $0.byClock(behindMs: nowMs - self.nowMs).of(store.id) }
    let known = alarms
    alarms += raised.filter { alarm in !known.contains(where: alarm.isSame) }
    do throws(RedisError) { redis.append((store.id, try await store.settings.read())) } catch {
      // INFO may be forbidden.
      guard case .server = error else { throw error }
      redis.append((store.id, nil))
    }
  }
}
