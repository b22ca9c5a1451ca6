internal import Model
internal import Operations
internal import Redis
internal import Store

/// Everything that one look at the fleet reads.
struct FleetLook: Sendable {
  let fleet: FleetSnapshot
  let jobs: JobList
  /// When the jobs were read, to the millisecond, by the first store's clock.
  let jobsMs: Int64
  /// For how long the oldest work of a priority waits; none where no worker has ever looked.
  private(set) var oldestMs: [Priority: Int64] = [:]
  /// `<network>|<upper bound in ms>` → answers of this minute and the last.
  private(set) var answers: [String: Int] = [:]
  /// The minutes that ended since the last look.
  private(set) var minutes: [MinuteHistory.Minute] = []

  /// - Parameter knownMs: the last minute that is known already.
  static func read(
    _ stores: [ShardStore], minutesAfter knownMs: Int64?
  ) async throws(RedisError) -> FleetLook {
    let fleet = try await FleetSnapshot.read(stores)
    let jobsMs = try await nowMs(stores) ?? fleet.nowMs
    let jobs = try await JobList.read(stores, endedMax: ServerLimits.feedEndedJobsMax)
    var look = FleetLook(fleet: fleet, jobs: jobs, jobsMs: jobsMs)
    look.minutes = MinuteHistory.missing(after: knownMs, nowMs: fleet.nowMs)
      .map { MinuteHistory.Minute(atMs: $0) }
    for (store, standing) in zip(stores, fleet.shards) {
      try await look.readOldest(store, standing)
      for seconds in [standing.nowMs / 1_000 - 60, standing.nowMs / 1_000] {
        let counts = try await readable([:]) { () async throws(RedisError) in
          try await store.metrics.latency(Minute.name(epochSeconds: seconds))
        }
        look.answers.merge(counts) { $0 + $1 }
      }
      try await look.readMinutes(store)
    }
    return look
  }

  private init(fleet: FleetSnapshot, jobs: JobList, jobsMs: Int64) {
    self.fleet = fleet
    self.jobs = jobs
    self.jobsMs = jobsMs
  }

  private static func nowMs(_ stores: [ShardStore]) async throws(RedisError) -> Int64? {
    guard let store = stores.first else { return nil }
    let time = try await store.connection.call(RedisCommand("TIME")).array ?? []
    guard time.count == 2, let seconds = time[0].integer, let micros = time[1].integer,
      (0...Int(Limits.instantMsMax / 1_000)).contains(seconds), (0..<1_000_000).contains(micros)
    else { return nil }
    return Int64(seconds) * 1_000 + Int64(micros / 1_000)
  }

  /// Reads what waits in a shard, by what is there and by its clock.
  private mutating func readOldest(
    _ store: ShardStore, _ standing: ShardStanding
  ) async throws(RedisError) {
    let notes = try await readable(nil) { () async throws(RedisError) in
      try await store.backlog.waitingNotes()
    }
    guard let notes else { return }
    for priority in Priority.allCases {
      guard
        let ms = FleetMetrics.oldestMs(
          since: notes.sinceMs[priority], lookedAtMs: notes.atMs,
          isEmpty: standing.isEmpty(priority, countsWork: false), nowMs: standing.nowMs)
      else { continue }
      oldestMs[priority] = max(oldestMs[priority] ?? 0, ms)
    }
  }

  private mutating func readMinutes(_ store: ShardStore) async throws(RedisError) {
    guard let first = minutes.first?.atMs, let last = minutes.last?.atMs else { return }
    for index in minutes.indices {
      let name = Minute.name(epochSeconds: minutes[index].atMs / 1_000)
      minutes[index].add(
        try await readable([:]) { () async throws(RedisError) in
          try await store.metrics.minute(name)
        })
    }
    let command = RedisCommand(
      "XREVRANGE", store.keys.timeline, String(last + 59_999), String(first), "COUNT",
      String(ServerLimits.historyEntriesMax))
    let entries = try await readable([]) { () async throws(RedisError) in
      try await store.connection.call(command).array ?? []
    }
    var told = minutes.map { MinuteHistory.Minute(atMs: $0.atMs) }
    for entry in entries { Self.add(entry, to: &told) }
    for index in minutes.indices { minutes[index].add(told[index]) }
  }

  /// Adds an entry of a store's timeline; the last of a minute, which comes first, is the one that counts.
  private static func add(_ entry: RESPValue, to minutes: inout [MinuteHistory.Minute]) {
    guard let parts = entry.array, parts.count == 2, let id = parts[0].string,
      let atMs = Int64(id.prefix { $0 != "-" }), let first = minutes.first?.atMs, atMs >= first
    else { return }
    let index = Int((atMs - first) / 60_000)
    guard index < minutes.count else { return }
    func figure(_ name: String) -> Int? {
      parts[1].pairs.first { $0.0 == name }.flatMap { Int($0.1) }
        .map { max(0, StoredNumber.count($0)) }
    }
    if minutes[index].backlog == nil { minutes[index].backlog = figure("backlog") }
    if minutes[index].oldestMs == nil {
      minutes[index].oldestMs = figure("oldest_ready_ms").map { Int64($0) }
    }
  }
}

/// Reads what is shown of a key: nothing where it holds another type, of which an alarm tells.
private func readable<Value>(
  _ nothing: Value, _ read: () async throws(RedisError) -> Value
) async throws(RedisError) -> Value {
  do throws(RedisError) { return try await read() } catch {
    guard case .server("WRONGTYPE", _) = error else { throw error }
    return nothing
  }
}
