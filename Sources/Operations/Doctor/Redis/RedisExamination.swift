internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

/// A Redis, by what a worker needs of it. It reads, and writes nothing.
struct RedisExamination: Sendable {
  private(set) var findings: [DoctorFinding] = []
  /// How far this machine's clock is ahead of Redis's; as little of the way as can be.
  private(set) var aheadMs: Int64 = 0
  /// The apps that stand there; nil where they were not looked at.
  var apps: ExaminedApps?

  private static let subject = "redis"

  /// - Parameter app: the app to look at of those that stand there; nil for all.
  /// - Throws: when Redis is away, or answers nothing in time. A refusal is a finding.
  static func of(
    _ store: ShardStore, at redis: RedisConfiguration, for configuration: Configuration,
    app: String?
  ) async throws(RedisError) -> RedisExamination {
    var examination = RedisExamination()
    try await examination.askVersion(store, at: redis.url.server)
    try await examination.compareClocks(store)
    try await examination.readSettings(store, redis, configuration)
    try await examination.lookForFunctions(store)
    let user: DocumentedUser = configuration.hasApps ? .worker : .operator
    examination.findings += try await RedisRights(store: store, user: user).findings()
    if store.id == configuration.shards.home {
      try await examination.openApps(
        FleetStore(connection: store.connection, prefix: store.keys.prefix), configuration,
        only: app)
    }
    try await examination.lookForOthers(store, configuration)
    let nowMs = WallClock.system.nowMs() - examination.aheadMs
    for alarm in try await store.keyTypes.alarms(nowMs: nowMs) {
      examination.add(.error, alarm.message, partedBy: "; ")
    }
    if let alarm = try await store.settings.refusalOfWrites(nowMs: nowMs) {
      examination.add(.error, alarm.message, partedBy: "; ")
    }
    return examination
  }

  /// Tells of a place without a name that has users of an app of another shard: no worker begins there.
  private mutating func lookForOthers(
    _ store: ShardStore, _ configuration: Configuration
  ) async throws(RedisError) {
    let (shard, placement) = (store.id, configuration.placement)
    guard shard != placement.home else { return }
    let others = configuration.apps.map(\.id).filter { !placement.has($0, in: shard) }
    let standing = try await Self.allowed { () async throws(RedisError) in
      try await store.placement.standing(for: shard, unlessOf: others)
    }
    if let sentence = standing.flatMap({ $0?.refusal(of: shard) }) {
      add(.error, sentence, partedBy: "; ")
    }
  }

  mutating func add(
    _ severity: DoctorFinding.Severity, _ sentence: String, remedy: String? = nil
  ) {
    findings.append(DoctorFinding(severity, Self.subject, sentence, remedy: remedy))
  }

  private mutating func add(
    _ severity: DoctorFinding.Severity, _ text: String, partedBy separator: String
  ) {
    findings.append(DoctorFinding(severity, Self.subject, text, partedBy: separator))
  }

  /// Runs a question that Redis may refuse to this user.
  /// - Returns: nil when it does.
  static func allowed<Value>(
    _ ask: () async throws(RedisError) -> Value
  ) async throws(RedisError) -> Value? {
    do throws(RedisError) { return try await ask() } catch {
      guard case .server = error else { throw error }
      return nil
    }
  }

  // MARK: Version

  private mutating func askVersion(
    _ store: ShardStore, at place: RedisURL.Server
  ) async throws(RedisError) {
    let info = try await Self.allowed { () async throws(RedisError) in
      try await store.connection.call(RedisCommand("INFO", "server")).string
    }
    guard let info else {
      return add(
        .note, "does not tell its version and how it is set up: this user may not run INFO",
        remedy: "give the user +info, so that workers and the doctor can warn")
    }
    judge(versionsIn: info ?? "")
    judge(place, isCluster: (info ?? "").contains("redis_mode:cluster"))
  }

  /// Tells of an address without which nobody finds the servers that take over.
  mutating func judge(_ place: RedisURL.Server, isCluster: Bool) {
    let unless = "unless its name leads to all of them"
    switch place {
    case .tcp where isCluster, .unix where isCluster, .cluster(_, tls: _) where place.hosts == 1:
      add(
        .note, "is a node of a Redis Cluster, and redis.url names no other",
        remedy: "name several nodes (redis+cluster://n1,n2,n3), \(unless): "
          + "a worker that starts while this one is away looks nowhere else")
    case .sentinels(_, master: _, tls: _) where place.hosts == 1:
      add(
        .note, "is found by one Sentinel, and redis.url names no other",
        remedy: "name all sentinels (redis+sentinel://s1,s2,s3/NAME), \(unless): "
          + "while this one is away no worker finds a new master")
    case .tcp, .unix, .cluster, .sentinels: break
    }
  }

  /// - Parameter info: the section `server` of INFO.
  mutating func judge(versionsIn info: String) {
    let version = Self.version(in: info, after: "redis_version:")
    let major = version.flatMap { Int($0.prefix { $0 != "." }) }
    guard let version, let major else { return add(.note, "does not tell its version") }
    guard major >= OperationsLimits.redisVersionMin else {
      return add(
        .error, "is version \(version), and its functions are needed",
        remedy: "use Redis \(OperationsLimits.redisVersionMin).0 or later")
    }
    // It tells the version of Redis that it took over from, as if it had stayed that.
    if let valkey = Self.version(in: info, after: "valkey_version:") {
      return add(.good, "is Valkey \(valkey), which speaks as Redis \(version) does")
    }
    add(.good, "is version \(version)")
  }

  private static func version(in info: String, after mark: String) -> String? {
    let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix(mark) }
    let text = line?.dropFirst(mark.count).prefix(32) ?? ""
    return text.isEmpty || !TextRule.isWord(String(text), others: ".-") ? nil : String(text)
  }

  // MARK: Clock

  private mutating func compareClocks(_ store: ShardStore) async throws(RedisError) {
    let beforeMs = WallClock.system.nowMs()
    let time = try await Self.allowed { () async throws(RedisError) in
      try await store.connection.call(RedisCommand("TIME")).array ?? []
    }
    let afterMs = WallClock.system.nowMs()
    guard let time else { return add(.note, "does not tell this user its time") }
    guard time.count == 2, let seconds = time[0].integer, let micros = time[1].integer,
      (0...Int(Limits.instantMsMax / 1_000)).contains(seconds), (0..<1_000_000).contains(micros)
    else { return add(.note, "does not tell its time") }
    let serverMs = Int64(seconds) * 1_000 + Int64(micros) / 1_000
    judge(aheadMs: beforeMs + (afterMs - beforeMs) / 2 - serverMs)
  }

  /// - Parameter difference: how far this machine's clock is ahead.
  mutating func judge(aheadMs difference: Int64) {
    aheadMs = difference
    let text = FigureText.duration(
      ms: difference.magnitude > Int64.max.magnitude
        ? .max : Int64(difference.magnitude))
    guard difference.magnitude > OperationsLimits.clockDifferenceMsMax else {
      return add(.good, "has the time of this machine, but for \(text)")
    }
    add(
      .warning,
      "and this machine differ in time: this one is \(text) "
        + (difference > 0 ? "ahead" : "behind"),
      remedy: "repair time synchronisation on whichever is wrong; workers go by the clock of Redis")
  }

  // MARK: Settings

  private mutating func readSettings(
    _ store: ShardStore, _ redis: RedisConfiguration, _ configuration: Configuration
  ) async throws(RedisError) {
    guard let settings = try await store.settings.readAllowed() else { return }
    judge(settings, accepting: redis.acceptedRisks)
    let forecast = try await Self.allowed { () async throws(RedisError) in
      try await Self.forecast(store, settings, configuration)
    }
    guard let forecast = forecast ?? nil else { return }
    if let warning = forecast.warning {
      add(.warning, warning, partedBy: ". ")
    } else if forecast.bytesMax > 0 {
      add(.good, forecast.summary)
    }
  }

  mutating func judge(_ settings: RedisSettings, accepting accepted: Set<RedisRisk>) {
    let risks = settings.risks(accepting: accepted)
    for risk in risks {
      // No worker starts with such a one.
      let isError = risk.risk == .eviction && settings.evictsAnyKey
      add(isError ? .error : .warning, risk.sentence, partedBy: "; ")
    }
    if risks.isEmpty { add(.good, "keeps what it confirms, as far as its settings tell") }
    guard settings.memoryBytesMax > 0 else { return }
    let used = Double(settings.memoryBytes) / Double(settings.memoryBytesMax)
    let text =
      "uses \(FigureText.bytes(settings.memoryBytes)) of its maxmemory "
      + FigureText.bytes(settings.memoryBytesMax)
    guard used >= OperationsLimits.redisMemoryShareMax else { return add(.good, text) }
    add(
      .warning, text,
      remedy: "give it memory before it is full: a full Redis takes no new jobs")
  }

  /// Reckons what the records of ended jobs come to, as a worker does; nil when too little is known.
  private static func forecast(
    _ store: ShardStore, _ settings: RedisSettings, _ configuration: Configuration
  ) async throws(RedisError) -> RecordForecast? {
    let nowMs = try await store.serverSeconds() * 1_000
    let now = EndedJobs(count: try await store.metrics.endedCount(), atMs: nowMs)
    let before = try await store.metrics.endedADayAgo(nowMs: nowMs)
    let last = try await store.jobs.ended(max: OperationsLimits.forecastJobs)
    guard !last.isEmpty, let perSecond = before?.perSecond(until: now) else { return nil }
    let rules = try await retention(
      ofApps: Set(last.map(\.app)), store, configuration)
    let kept = last.reduce(0.0) { sum, job in
      let rule = rules[job.app] ?? configuration.jobs.retention
      return sum + Double(rule.seconds(of: job, hasID: !JobSource.isName(job.id)))
    }
    return RecordForecast(
      jobsPerSecond: perSecond, secondsKept: kept / Double(last.count), settings: settings)
  }

  /// How long the jobs of some apps are kept, of those that have settings of their own: in the configuration, or in Redis.
  private static func retention(
    ofApps apps: Set<String>, _ store: ShardStore, _ configuration: Configuration
  ) async throws(RedisError) -> [String: JobRetention] {
    var rules: [String: JobRetention] = [:]
    var others: [String] = []
    for app in apps {
      if let named = configuration.app(app) {
        rules[app] = named.jobs?.retention
      } else {
        others.append(app)
      }
    }
    guard configuration.appsInRedis != nil, !others.isEmpty else { return rules }
    let asked = others
    let values = try await allowed { () async throws(RedisError) in
      try await FleetStore(connection: store.connection, prefix: store.keys.prefix).apps.find(asked)
    }
    for (app, value) in zip(asked, values ?? []) {
      guard let value, let record = try? AppRecord(id: app, value: value) else { continue }
      rules[app] = record.form.rules.jobs.over(configuration.jobs)?.retention
    }
    return rules
  }

  // MARK: Functions

  private mutating func lookForFunctions(_ store: ShardStore) async throws(RedisError) {
    let name = StoreLibrary.library.name
    let found = try await Self.allowed { () async throws(RedisError) in
      try await store.connection.call(
        RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", name)
      ) { $0.count }
    }
    guard let found else { return add(.note, "does not tell this user which functions it has") }
    guard found > 0 else {
      return add(
        .note, "has no functions of this version yet: the first worker loads them")
    }
    add(.good, "has the functions of this version")
  }
}

extension RedisURL.Server {
  /// How many hosts it names.
  fileprivate var hosts: Int {
    switch self {
    case .tcp, .unix: 1
    case .sentinels(let hosts, master: _, tls: _), .cluster(let hosts, tls: _): hosts.count
    }
  }
}
