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
  /// The home's first.
  private let groups: [LaneGroup]
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
    let shards = configuration.shards.homeFirst
    let group = ControlGroup()
    let worker = configuration.worker
    let memory = ProcessMemory(group)
    self.memory = memory
    let allowed = AllowedCPUs(group)
    let count = worker.lanes > 0 ? worker.lanes : allowed.lanes
    let basis = worker.lanes > 0 ? "as worker.lanes says" : "since \(allowed.reason)"
    let each = shards.count > 1 ? " for each of \(shards.count) shards" : ""
    log.info("lanes: \(count)\(each), \(basis)", metadata: ["lanes": "\(count)"])
    // A destination has connections in the lanes of its app's shard alone.
    let remark = DescriptorLimit.remark(
      lanes: count * shards.count,
      destinations: (directory.entries.count + shards.count - 1) / shards.count,
      connectionsPerLane: worker.connectionsPerLane)
    if let remark { log.warning("\(remark)") }
    let timeZones = try TimeZoneDatabase.release()
    log.info("time zones are those of \(timeZones)")
    let placement = HeldPlacement(configuration.shards)
    let snapshots = placement.snapshots(of: configuration, apps, for: shards.map(\.id))
    let process = LaneGroup.Process(
      name: name, worker: worker, lanes: count, groups: shards.count, configuration: standing,
      memory: memory,
      doors: shards.count > 1 ? ShardDoors(configuration.shards.ids) : nil, log: logger)
    var groups: [LaneGroup] = []
    for (number, shard) in shards.enumerated() {
      groups.append(
        try LaneGroup(
          shard, number: number, of: process, home: groups.first,
          clock: number == 0 ? clock : FleetClock(own: ownClock), snapshot: snapshots[number]))
    }
    self.groups = groups
    let home = shards[0].redis
    var appsEndpoint = try RedisEndpoint(home)
    appsEndpoint.clientName = "pushpool-\(name)-apps"
    appsEndpoint.expect(shards[0].id, prefix: home.prefix)
    keeper = try ConfigurationKeeper(
      LoadedConfiguration(configuration, apps, keys: keys), from: origin, marks: marks,
      isStrict: isStrict,
      parts: ConfigurationKeeperParts(
        worker: name, client: client, clock: clock.wallClock, standing: standing, log: logger,
        redisApps: RedisAppsPlace(
          endpoint: appsEndpoint, prefix: home.prefix, routes: groups[0].routes))
    ) { [groups] next in
      next.apps.directory.share(
        through: FleetCredentials(connection: groups[0].lanes[0], clock: clock))
      let snapshots = placement.snapshots(
        of: next.configuration, next.apps, for: groups.map(\.shard))
      // The home last: when it has an app of Redis, the other shards know where to pass its jobs on.
      for (group, snapshot) in zip(groups, snapshots).reversed() {
        for lane in group.lanes { await lane.use(snapshot) }
      }
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
    if let refusal = await refusal() {
      stopThreads(loops)
      client.shutdown()
      throw refusal
    }
    share(through: fleetCredentials)
    // The lanes know the directory, so it must not keep one of them for ever.
    defer { share(through: nil) }
    log.info("worker \(name) started", metadata: ["lanes": "\(lanes.count)"])
    let reporting = Task { await report(to: health) }
    let keeping = Task(executorPreference: keeper.loop) { [keeper] in await keeper.run() }
    await withTaskGroup(of: Void.self) { tasks in
      for (number, group) in groups.enumerated().reversed() {
        // Lanes without the apps of Redis would pass on the jobs of all of them, only to take them back. These apps live at
        // home, so no other shard waits. The wait is bounded.
        if number == 0 { await keeper.complete(withinMs: WorkerLimits.redisAppsWaitMs) }
        // Without the preference a lane that is told to end before it has begun may wait for ever: what wakes its task was
        // seen to be lost.
        for lane in group.lanes {
          tasks.addTask(executorPreference: lane.loop) { await lane.run() }
        }
      }
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

  private var lanes: [Lane] { groups.flatMap(\.lanes) }

  private var loops: [EventLoop] { lanes.map(\.loop) + [keeper.loop] }

  /// Why the process is not to begin with one of its Redis, which are asked at the same time.
  private func refusal() async -> UnsafeRedis? {
    guard groups.count > 1 else { return await groups[0].refusal() }
    return await withTaskGroup(of: UnsafeRedis?.self) { tasks in
      for group in groups { tasks.addTask { await group.refusal() } }
      var first: UnsafeRedis?
      for await refusal in tasks { first = first ?? refusal }
      return first
    }
  }

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
    FleetCredentials(connection: groups[0].lanes[0], clock: clock)
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
    var lastAccepted = groups.map { _ in 0 }
    var lastMs = startedAtMs
    var beats: UInt64 = 0
    var lag = DurationHistogram(boundsUs: WorkerLimits.lagBoundsUs)
    while !Task.isCancelled {
      var parts: [LaneStatistics] = []
      for group in groups { parts.append(await group.statistics(&lag)) }
      let sum = parts.reduce(into: LaneStatistics()) { $0 += $1 }
      let nowMs = FleetClock.uptimeMs
      let elapsedMs = max(1, Int(nowMs - lastMs))
      let news = zip(parts, lastAccepted).map { $0.accepted - $1 }
      (lastAccepted, lastMs) = (parts.map(\.accepted), nowMs)
      // Every lane has just answered.
      do throws(SystemError) {
        let awaited = standing.awaited
        try health?.write(
          isReady: sum.isConnected && awaited == nil, trouble: awaited ?? sum.trouble)
      } catch { log.warning("the health file cannot be written: \(error)") }
      let rate = news.reduce(0, +) * 1_000 / elapsedMs
      let isFull = beats % (WorkerLimits.figuresMs / WorkerLimits.beatMs) == 0
      let figures = isFull ? await figures(lag).fields : []
      let hasCourse = beats % (WorkerLimits.timelineMs / WorkerLimits.beatMs) == 0
      for (number, group) in groups.enumerated() {
        let fields = fields(sum, rate, by: group.clock) + figures
        let (name, part) = (name, parts[number])
        let perSecond = news[number] * 1_000 / elapsedMs
        await group.tell(waits: groups.count == 1) { lane in
          await lane.beat(worker: name, fields: fields)
          if hasCourse { await lane.appendTimeline(part, acceptedPerSecond: perSecond) }
        }
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

  /// - Parameter clock: of the shard that is told.
  private func fields(
    _ sum: LaneStatistics, _ rate: Int, by clock: FleetClock
  ) -> [(String, String)] {
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
