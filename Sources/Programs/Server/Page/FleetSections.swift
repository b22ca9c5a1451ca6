internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Store

/// The sections of the feed as JSON. Each list has an end: what is beyond it is counted in `left_out`.
struct FleetSections {
  let look: FleetLook
  /// Shards that the look leaves out, as alarms above all others.
  var absences: [Alarm] = []
  /// The pace of each open job, in installations a second.
  let paces: (JobRecord) -> Double?

  var fleet: FleetSnapshot { look.fleet }

  /// The sections that a look makes; the rates and the history are told by others.
  /// - Parameter accepted: risks of Redis that the configuration accepts.
  func all(accepting accepted: AcceptedRisks) -> [FeedSection: JSONValue] {
    [
      .fleet: fleetSection(accepting: accepted), .alarms: alarms, .jobs: jobs,
      .outcomes: outcomes, .networks: NetworkFigures(fleet.living, answers: look.answers).json,
      .switches: switches,
    ]
  }

  private func fleetSection(accepting accepted: AcceptedRisks) -> JSONValue {
    let living = fleet.living.sorted { $0.worker < $1.worker }
    let lost = fleet.lost.sorted { $0.lastBeatMs > $1.lastBeatMs }
    let shown = (living + lost).prefix(ServerLimits.feedWorkersMax)
    var backlog = JSONObject()
    for priority in Priority.allCases {
      var object: JSONObject = [
        "jobs": .integer(fleet.queues.jobs[priority] ?? 0),
        "waiting": .integer(fleet.waiting(priority)),
        "in_work": .integer(fleet.held[priority] ?? 0),
      ]
      object["oldest_ready_ms"] = look.oldestMs[priority].map { .integer($0) }
      backlog[priority.rawValue] = .object(object)
    }
    var object: JSONObject = [
      "alive": .integer(living.count), "lost": .integer(lost.count),
      "workers": .array(shown.map(worker)),
      "left_out": .integer(living.count + lost.count - shown.count),
      "configurations": configurations, "backlog": .object(backlog),
      "delayed": .integer(fleet.queues.delayed),
      "dead": .integer(fleet.queues.dead),
      "redis": .array(
        fleet.shards.map { redis($0.redis, accepting: accepted[$0.shard]) }),
    ]
    for name in ["lanes", "in_flight", "accepted_per_second", "connections"] {
      let sum = living.reduce(0) { $0 + (Self.figure(name, of: $1) ?? 0) }
      object[name] = .integer(sum)
    }
    object["oldest_ready_ms"] = look.oldestMs.values.max().map { .integer($0) }
    return .object(object)
  }

  private func worker(_ worker: WorkerStatus) -> JSONValue {
    let isAlive = fleet.isAlive(worker)
    var object: JSONObject = ["worker": Self.text(worker.worker), "alive": .bool(isAlive)]
    // Of those that beat, it would change each second and say nothing.
    if !isAlive { object["last_beat"] = .integer(worker.lastBeatMs) }
    for name in [
      "lanes", "in_flight", "accepted_per_second", "connections", "rss_bytes",
      "memory_limit_bytes", "started_at", "clock_ahead_ms", "pid", "open_files", "open_files_max",
    ] {
      object[name] = Self.figure(name, of: worker).map { .integer($0) }
    }
    for name in ["host", "version"] { object[name] = worker.fields[name].map(Self.text) }
    if let figures = WorkerFigures(worker.fields) {
      object["networks"] = NetworkFigures.json(figures.connections)
    }
    return .object(object)
  }

  private func redis(
    _ settings: RedisSettings?, accepting accepted: Set<RedisRisk>
  ) -> JSONValue {
    guard let settings else { return .null }
    return .object([
      "role": .string(settings.isReplica ? "replica" : "primary"),
      // In steps, so that not each second tells of a few bytes more.
      "memory_mb": .integer(settings.memoryBytes >> 20),
      "maxmemory_mb": .integer(settings.memoryBytesMax >> 20),
      "maxmemory_policy": settings.policy.map { .string($0) } ?? .null,
      "append_only_file": settings.hasAppendOnlyFile.map { .bool($0) } ?? .null,
      "evicted_keys": .integer(settings.evictedKeys), "replicas": .integer(settings.replicas),
      "risks": .array(
        settings.risks(accepting: accepted).map { finding in
          .object([
            "risk": .string(finding.risk.rawValue), "message": .string(finding.sentence),
          ])
        }),
    ])
  }

  private var alarms: JSONValue {
    let all = absences + fleet.alarms
    let shown = all.prefix(ServerLimits.feedAlarmsMax)
    return .object([
      "alarms": .array(
        shown.map { alarm in
          let parts = alarm.field.split(separator: "|", omittingEmptySubsequences: false)
          var object: JSONObject = [
            "alarm": Self.text(alarm.field), "since": .integer(alarm.atMs),
            "message": Self.text(alarm.sentence),
            "about": .array(parts.dropFirst().map { Self.text(String($0)) }),
          ]
          // Of a kind that this version does not know there is no paragraph to lead to.
          object["kind"] = AlarmKind(field: alarm.field).map { .string($0.rawValue) }
          object["shard"] = alarm.shard.map { .string($0.name) }
          return .object(object)
        }),
      "left_out": .integer(all.count - shown.count),
    ])
  }

  private var jobs: JSONValue {
    let list = look.jobs
    let shown = list.open.prefix(ServerLimits.feedJobsMax)
    return .object([
      "open_count": .integer(list.openCount),
      "open": .array(
        shown.map { job in
          guard case .object(var object) = job.json(nowMs: look.jobsMs) else { return .null }
          object["per_second"] = paces(job).map { .integer(Int($0.rounded())) }
          return .object(object)
        }),
      "ended": .array(list.ended.map { $0.json() }),
      "left_out": .integer(max(0, list.openCount - shown.count)),
    ])
  }

  private var outcomes: JSONValue {
    let all = fleet.outcomes
    let shown = all.prefix(ServerLimits.feedOutcomesMax)
    return .object([
      "outcomes": .array(
        shown.map { names, last, this in
          var object = JSONObject()
          for (name, value) in zip(["app", "network", "outcome"], names) {
            object[name] = Self.text(value)
          }
          object["last_minute"] = .integer(last)
          object["this_minute"] = .integer(this)
          return .object(object)
        }),
      "left_out": .integer(all.count - shown.count),
    ])
  }

  private var switches: JSONValue {
    let reading = fleet.switches
    let shown = reading.sorted.prefix(ServerLimits.feedSwitchesMax)
    return .object([
      "count": .integer(reading.count), "overfull": .bool(reading.isOverfull),
      "switches": .array(shown.map { .object($0.killSwitch.json($0.remark)) }),
      "left_out": .integer(max(0, reading.count - shown.count)),
    ])
  }

  /// The rates that are set for apps.
  /// - Parameter others: of how many apps in Redis nothing is told.
  static func rates(_ apps: [AppRates], others: Int) -> JSONValue {
    var rates: [JSONValue] = []
    for app in apps {
      func add(_ what: String, _ count: Int, per unit: String) {
        rates.append(
          .object([
            "app": .string(app.app), "what": .string(what), "count": .integer(count),
            "per": .string(unit),
          ]))
      }
      if let count = app.pushesPerSecond { add("pushes", count, per: "second") }
      for (network, quota) in app.quotas { add(network.rawValue, quota, per: "minute") }
      if app.eventsPerMinute > 0 { add("events", app.eventsPerMinute, per: "minute") }
    }
    let shown = rates.prefix(ServerLimits.feedRatesMax)
    return .object([
      "rates": .array(Array(shown)), "left_out": .integer(rates.count - shown.count),
      "apps_left_out": .integer(others),
    ])
  }

  // MARK: Foreign values

  private static func figure(_ name: String, of worker: WorkerStatus) -> Int? {
    worker.fields[name].flatMap { Int($0) }.map { StoredNumber.count($0) }
  }

  /// The beginning of a text that another program wrote.
  static func text(_ text: String) -> JSONValue {
    let max = ServerLimits.feedTextBytesMax
    guard text.utf8.count > max else { return .string(text) }
    return .string(String(decoding: text.utf8.prefix(max), as: UTF8.self) + "…")
  }
}
