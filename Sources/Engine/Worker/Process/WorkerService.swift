internal import CLinux
internal import Glibc
internal import HTTPClient
package import Logging
internal import Model
package import Providers
package import PushpoolConfiguration
internal import Reactor
internal import Redis
internal import Store
internal import Synchronization

/// A worker process: its lanes, and what it says of itself to the fleet.
package final class WorkerService: Sendable {
  private let lanes: [Lane]
  private let keeper: ConfigurationKeeper
  private let standing: ConfigurationStanding
  private let client = HTTPClient()
  private let log: Logger
  /// Unique per process start, so that a lease never passes to a namesake.
  package let name: String
  private let clock: FleetClock
  private let memory: ProcessMemory
  /// When it was made, and when `stop` was called first, by `FleetClock.uptimeMs`.
  private let startedAtMs: Int64
  private let stoppedAtMs = Mutex<Int64?>(nil)

  /// Loads every key and certificate.
  /// - Parameters:
  ///   - origin: where the configuration comes from when it is loaded anew; nil for the same one again, whose keys are then read
  ///     anew.
  ///   - isStrict: whether an app with a file that cannot be used is an error. Else it is left out, unless it is the last.
  ///   - ownClock: this machine's, which is compared with Redis's.
  /// - Throws: `ConfigurationError` naming file, line or field.
  package init(
    configuration: Configuration, from origin: ConfigurationOrigin? = nil, isStrict: Bool = false,
    logger: Logger, ownClock: WallClock = .system
  ) throws {
    log = logger
    startedAtMs = FleetClock.uptimeMs
    let clock = FleetClock(own: ownClock)
    self.clock = clock
    let name = Self.makeName()
    self.name = name
    let origin = origin ?? ConfigurationOrigin(file: nil, read: { configuration })
    var marks = FileMarks()
    if let file = origin.file { marks.add([file]) { _ in origin.identity } }
    marks.add(configuration.files(for: .worker).map(\.path))
    let keys = try SealingKeys(configuration)
    let apps = try ConfiguredApps(configuration, client: client, clock: clock.wallClock)
    if let error = apps.leftOut.first?.errors.first,
      isStrict || apps.leftOut.count == configuration.apps.count && keys == nil
    {
      throw error
    }
    Self.note(apps.leftOut, in: log)
    let directory = apps.directory
    try directory.checkCurl()
    let standing = ConfigurationStanding()
    self.standing = standing
    let endpoint = try RedisEndpoint(configuration.redis)
    let group = ControlGroup()
    let worker = configuration.worker
    let memory = ProcessMemory(group)
    self.memory = memory
    let allowed = AllowedCPUs(group)
    let count = worker.lanes > 0 ? worker.lanes : allowed.lanes
    let basis = worker.lanes > 0 ? "as worker.lanes says" : "since \(allowed.reason)"
    log.info("lanes: \(count), \(basis)", metadata: ["lanes": "\(count)"])
    let remark = DescriptorLimit.remark(
      lanes: count, destinations: directory.entries.count,
      connectionsPerLane: worker.connectionsPerLane)
    if let remark { log.warning("\(remark)") }
    let timeZones = try TimeZoneDatabase.release()
    log.info("time zones are those of \(timeZones)")
    let shared = SharedParts(clock: clock, configuration: standing, memory: memory)
    let snapshot = WorkerSnapshot(configuration, apps)
    let lanes = try (0..<count).map { number in
      var redis = endpoint
      redis.clientName = "pushpool-\(name)-\(number)"
      var laneLog = logger
      laneLog[metadataKey: "lane"] = "\(number)"
      return try Lane(
        loop: try EventLoop(name: "lane-\(number)"),
        settings: LaneSettings(
          worker: name, consumer: "\(name)-\(number)", prefix: configuration.redis.prefix,
          redis: redis, acceptedRisks: configuration.redis.acceptedRisks,
          leaseMs: UInt64(worker.leaseSeconds) * 1_000,
          drainMs: UInt64(worker.drainSeconds) * 1_000,
          connectionsMax: worker.connectionsPerLane, streamsMax: worker.streamsPerConnection,
          connectionsKept: DescriptorLimit.connectionsKept(lanes: count),
          requestTimeoutMs: UInt64(worker.requestTimeoutSeconds) * 1_000, number: number,
          sendsDirectly: true, shared: shared),
        snapshot: snapshot, log: laneLog)
    }
    self.lanes = lanes
    var appsEndpoint = endpoint
    appsEndpoint.clientName = "pushpool-\(name)-apps"
    keeper = try ConfigurationKeeper(
      LoadedConfiguration(configuration, apps, keys: keys), from: origin, marks: marks,
      isStrict: isStrict,
      parts: ConfigurationKeeperParts(
        worker: name, client: client, clock: clock.wallClock, standing: standing, log: logger,
        redisApps: RedisAppsPlace(
          endpoint: appsEndpoint, prefix: configuration.redis.prefix,
          routes: shared.routes))
    ) { next in
      next.apps.directory.share(through: FleetCredentials(connection: lanes[0], clock: clock))
      let snapshot = WorkerSnapshot(next.configuration, next.apps)
      for lane in lanes { await lane.use(snapshot) }
    }
  }

  /// Works until `stop`; everything in hand is then settled or handed back.
  /// - Parameter healthFile: replaced each second in which all lanes turned; see `HealthFile`.
  /// - Throws: `SystemError` when the system does not make the threads that it takes, and `UnsafeRedis` when Redis would
  ///   surely lose work; nothing was begun then.
  package func run(healthFile: String? = nil) async throws {
    let health = healthFile.map { HealthFile(path: $0) }
    // The C library would raise this limit by itself, and then keep what one large job took.
    mallopt(M_MMAP_THRESHOLD, Int32(WorkerLimits.returnedBlockBytesMin))
    try startThreads()
    // Swift's timers take their descriptors when one is used first, and end the process when there are none then.
    try? await Task.sleep(for: .milliseconds(1))
    if let sentence = await lanes[0].refusal() {
      stopThreads(loops)
      client.shutdown()
      throw UnsafeRedis(sentence: sentence)
    }
    share(through: fleetCredentials)
    // The lanes know the directory, so it must not keep one of them for ever.
    defer { share(through: nil) }
    log.info("worker \(name) started", metadata: ["lanes": "\(lanes.count)"])
    let reporting = Task { await report(to: health) }
    let keeping = Task(executorPreference: keeper.loop) { [keeper] in await keeper.run() }
    // Lanes without the apps of Redis would pass on the jobs of all of them, only to take them back. The wait is bounded.
    await keeper.complete(withinMs: WorkerLimits.redisAppsWaitMs)
    await withTaskGroup(of: Void.self) { group in
      // Without the preference a lane that is told to end before it has begun may wait for ever: what wakes its task was
      // seen to be lost.
      for lane in lanes { group.addTask(executorPreference: lane.loop) { await lane.run() } }
    }
    reporting.cancel()
    await reporting.value
    let hasKeeperEnded = await keeper.end(keeping, withinMs: WorkerLimits.keeperEndMs)
    health?.remove()
    if hasKeeperEnded {
      stopThreads(loops)
    } else {
      log.warning(
        "the worker ends while its configuration is still being read: a file system may hang under one of its files"
      )
      keeper.loop.stop()
      keeper.loop.detach()
      stopThreads(lanes.map(\.loop))
    }
    // A thread within libcurl or OpenSSL must not live while the process takes these down.
    client.shutdown()
    log.info("worker \(name) ended")
  }

  private var loops: [EventLoop] { lanes.map(\.loop) + [keeper.loop] }

  /// Starts the threads of the lanes and of the configuration, and makes sure that there can be more for Swift's tasks, look-ups
  /// and tokens.
  private func startThreads() throws(SystemError) {
    var started: [EventLoop] = []
    do throws(SystemError) {
      for loop in loops {
        try loop.start()
        started.append(loop)
      }
      try SystemThread.checkSpare(SystemThread.poolMax + WorkerLimits.spareThreads)
    } catch {
      stopThreads(started)
      throw error
    }
  }

  private func stopThreads(_ loops: [EventLoop]) {
    for loop in loops { loop.stop() }
    for loop in loops { loop.join() }
  }

  /// Loads the configuration anew, as a whole or not at all.
  package func reload() {
    Task { [keeper] in await keeper.ask() }
  }

  /// Begins to drain. Called again, it ends without waiting for answers; but not within a second, since
  /// one request to stop often comes as two signals, to the process and to its group.
  package func stop() {
    let nowMs = FleetClock.uptimeMs
    let sinceFirstMs = stoppedAtMs.withLock { stopped in
      defer { stopped = stopped ?? nowMs }
      return stopped.map { nowMs - $0 }
    }
    if let sinceFirstMs, sinceFirstMs < WorkerLimits.secondStopMs { return }
    for lane in lanes {
      Task { sinceFirstMs == nil ? await lane.drain() : await lane.abort() }
    }
    Task { [keeper] in await keeper.end() }
  }

  private var fleetCredentials: FleetCredentials {
    FleetCredentials(connection: lanes[0], clock: clock)
  }

  private func share(through share: (any TokenShare)?) {
    keeper.current.apps.directory.share(through: share)
  }

  private static func note(_ leftOut: [LeftOutApp], in log: Logger) {
    for app in leftOut.prefix(WorkerLimits.leftOutLoggedMax) {
      log.error("\(app.sentence)", metadata: ["app": "\(app.id)"])
    }
    let others = leftOut.count - WorkerLimits.leftOutLoggedMax
    if others > 0 { log.error("other apps are left out, too", metadata: ["apps": "\(others)"]) }
  }

  // MARK: Beats

  private func report(to health: HealthFile?) async {
    var lastAccepted = 0
    var lastMs = startedAtMs
    var beats: UInt64 = 0
    var lag = DurationHistogram(boundsUs: WorkerLimits.lagBoundsUs)
    while !Task.isCancelled {
      var sum = LaneStatistics()
      for lane in lanes {
        let told = await lane.statistics(askedNs: EventLoop.clockNs())
        lag.add(told.lagNs)
        sum += told
      }
      let nowMs = FleetClock.uptimeMs
      let rate = (sum.accepted - lastAccepted) * 1_000 / max(1, Int(nowMs - lastMs))
      (lastAccepted, lastMs) = (sum.accepted, nowMs)
      // Every lane has just answered.
      do throws(SystemError) {
        let awaited = standing.awaited
        try health?.write(
          isReady: sum.isConnected && awaited == nil, trouble: awaited ?? sum.trouble)
      } catch { log.warning("the health file cannot be written: \(error)") }
      var fields = fields(sum, rate)
      if beats % (WorkerLimits.figuresMs / WorkerLimits.beatMs) == 0 {
        fields += await figures(lag).fields
      }
      await lanes[0].beat(worker: name, fields: fields)
      if beats % (WorkerLimits.timelineMs / WorkerLimits.beatMs) == 0 {
        await lanes[0].appendTimeline(sum, acceptedPerSecond: rate)
      }
      beats += 1
      do { try await Task.sleep(for: .milliseconds(WorkerLimits.beatMs)) } catch { break }
    }
  }

  private func figures(_ lag: DurationHistogram) async -> WorkerFigures {
    var figures = WorkerFigures()
    for lane in lanes { figures += await lane.figures() }
    figures.lag = lag
    ProcessFigures.add(to: &figures)
    return figures
  }

  private func fields(_ sum: LaneStatistics, _ rate: Int) -> [(String, String)] {
    let startedAtMs = clock.nowMs - (FleetClock.uptimeMs - startedAtMs)
    return [
      ("host", Self.hostName()), ("pid", String(getpid())), ("version", PushpoolVersion.text),
      ("lanes", String(lanes.count)), ("in_flight", String(sum.inFlight)),
      ("accepted_per_second", String(rate)), ("connections", String(sum.connections)),
      ("rss_bytes", String(ProcessMemory.residentBytes)), ("started_at", String(startedAtMs)),
      ("clock_ahead_ms", String(clock.aheadMs)),
      // 0 where nothing bounds it: a HASH keeps what it was told before.
      ("memory_limit_bytes", String(memory.bytesMax ?? 0)),
    ] + standing.fields(bootedAtMs: clock.nowMs - FleetClock.uptimeMs)
  }

  private static func makeName() -> String {
    "\(hostName())-\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 36))"
  }

  private static func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, buffer.count - 1)
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    // It becomes part of consumer names: plain characters only.
    return String(decoding: bytes.filter { $0 > 0x20 && $0 < 0x7f && $0 != 0x3a }, as: UTF8.self)
  }
}
