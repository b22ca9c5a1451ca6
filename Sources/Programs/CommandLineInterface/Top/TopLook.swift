internal import Model
internal import Operations
internal import Redis
internal import Store

/// The fleet at one moment, as `top` shows it: plain values.
struct TopLook: Sendable, Equatable {
  /// One app at one network. A network is missing for users whose installations were never read.
  struct Lane: Sendable, Hashable {
    let app: String
    let network: String
  }

  /// Installations of one app at one network, by what became of them.
  struct Tally: Sendable, Equatable {
    var accepted = 0
    var others = 0

    mutating func add(_ count: Int, _ outcome: String) {
      if outcome == "accepted" { accepted += count } else { others += count }
    }
  }

  /// One worker that beats.
  struct Worker: Sendable, Equatable {
    let name: String
    let acceptedPerSecond: Int
    let inFlight: Int
    let connections: Int
  }

  /// Something that operators are to look at.
  struct Notice: Sendable, Equatable {
    let field: String
    let message: String
    /// Epoch milliseconds.
    let sinceMs: Int64
  }

  /// The work of one priority.
  struct Queue: Sendable, Equatable {
    let priority: Priority
    let jobs: Int
    let waiting: Int
    let inWork: Int
    /// For how long the oldest work waits; nil where no worker has ever looked.
    let oldestMs: Int64?
  }

  /// Redis's clock, epoch milliseconds.
  var nowMs: Int64 = 0
  /// The time by Redis's clock at which the tallies were read, epoch milliseconds.
  var talliedAtMs: Int64 = 0
  /// Since the totals began, and of the last full minute.
  var tallies: [Lane: Tally] = [:]
  var lastMinute: [Lane: Tally] = [:]
  /// Whether nothing of the tallies was left out.
  var isWhole = true
  var workers: [Worker] = []
  /// Workers that fell silent without leaving.
  var lost: [String] = []
  var queues: [Queue] = []
  /// Chunks of each app in the streams, those in work included.
  var chunks: [String: Int] = [:]
  /// Whether Redis does not tell this user the chunks of each app.
  var hidesChunks = false
  var delayed = 0
  var dead = 0
  var switchedOff = 0
  /// The oldest first.
  var alarms: [Notice] = []
  /// Jobs under way, and how many there are.
  var jobs: [JobRecord] = []
  var jobCount = 0

  /// Reads everything that is shown. It needs no functions, and a user who may only look is enough.
  static func read(_ stores: [ShardStore]) async throws(RedisError) -> TopLook {
    let snapshot = try await FleetSnapshot.read(stores)
    let jobs = try await JobList.read(stores, endedMax: 0)
    var look = TopLook(snapshot, jobs)
    look.talliedAtMs = try await stores.first?.serverMs() ?? 0
    for (store, standing) in zip(stores, snapshot.shards) {
      try await look.add(store, standing)
      try await look.addChunks(of: store)
    }
    return look
  }
}

extension TopLook {
  /// Notes the shards that were not read, as what stands above all alarms.
  mutating func note(_ absences: [ShardAbsence]) {
    let notices = absences.map {
      Notice(field: "shard|\($0.shard.name)", message: $0.failure.description, sinceMs: nowMs)
    }
    alarms.insert(contentsOf: notices, at: 0)
    if !absences.isEmpty { isWhole = false }
  }

  private init(_ snapshot: FleetSnapshot, _ jobs: JobList) {
    self.init()
    nowMs = snapshot.nowMs
    workers = snapshot.living.map { worker in
      func figure(_ name: String) -> Int { worker.fields[name].flatMap { Int($0) } ?? 0 }
      return Worker(
        name: worker.worker, acceptedPerSecond: figure("accepted_per_second"),
        inFlight: figure("in_flight"), connections: figure("connections"))
    }
    lost = snapshot.lost.map(\.worker)
    queues = Priority.allCases.map { priority in
      Queue(
        priority: priority, jobs: snapshot.queues.jobs[priority] ?? 0,
        waiting: snapshot.waiting(priority), inWork: snapshot.held[priority] ?? 0, oldestMs: nil)
    }
    delayed = snapshot.queues.delayed
    dead = snapshot.queues.dead
    switchedOff = snapshot.switches.count
    alarms = snapshot.alarms.map {
      Notice(field: $0.field, message: $0.sentence, sinceMs: $0.atMs)
    }
    for (names, last, _) in snapshot.outcomes where names.count == 3 {
      lastMinute[Lane(app: names[0], network: names[1]), default: Tally()].add(last, names[2])
    }
    self.jobs = jobs.open
    jobCount = jobs.openCount
  }

  /// Adds what a store counts and a snapshot does not tell.
  private mutating func add(
    _ store: ShardStore, _ standing: ShardStanding
  ) async throws(RedisError) {
    let totals: OutcomeTotals
    let notes: WaitingNotes
    do throws(RedisError) {
      totals = try await store.metrics.totals(max: CommandLineLimits.topSeriesMax)
      notes = try await store.backlog.waitingNotes()
    } catch {
      // A key of another type: an alarm tells of it.
      guard case .server("WRONGTYPE", _) = error else { throw error }
      return
    }
    isWhole = isWhole && totals.isWhole
    for (name, count) in totals.counts {
      let lane = Lane(app: name.app, network: name.network?.rawValue ?? "none")
      tallies[lane, default: Tally()].add(count, name.outcome)
    }
    queues = queues.map { queue in
      // By what is in the shard, and by its clock.
      let ms = FleetMetrics.oldestMs(
        since: notes.sinceMs[queue.priority], lookedAtMs: notes.atMs,
        isEmpty: standing.isEmpty(queue.priority, countsWork: true), nowMs: standing.nowMs)
      return Queue(
        priority: queue.priority, jobs: queue.jobs, waiting: queue.waiting, inWork: queue.inWork,
        oldestMs: [queue.oldestMs, ms].compactMap(\.self).max())
    }
  }

  private mutating func addChunks(of store: ShardStore) async throws(RedisError) {
    do throws(RedisError) {
      for (app, count) in try await store.backlog.chunksByApp() {
        chunks[app, default: 0] += count
      }
    } catch {
      guard case .server = error else { throw error }
      hidesChunks = true
    }
  }

  /// How much of a priority there is to do, and for how long it waits; all together.
  var backlog: Int { queues.reduce(0) { $0 + $1.jobs + $1.waiting + $1.inWork } }
  var oldestMs: Int64? { queues.compactMap(\.oldestMs).max() }
}
