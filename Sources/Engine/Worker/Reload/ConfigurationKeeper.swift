internal import HTTPClient
internal import Logging
internal import Providers
internal import PushpoolConfiguration
internal import Reactor
internal import Store
internal import Synchronization

/// Keeps the configuration of a worker: loads it anew when its file or a file that it names has changed, and when somebody asks.
/// A configuration is taken as a whole or not at all.
///
/// The keeper has a thread of its own, for reading some thousand files takes long, and a file system may hang: neither lanes
/// nor beats wait for it.
actor ConfigurationKeeper {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let origin: ConfigurationOrigin
  private let isStrict: Bool
  let parts: ConfigurationKeeperParts
  /// Has the lanes go by a configuration.
  private let take: @Sendable (LoadedConfiguration) async -> Void
  private nonisolated let inForce: Mutex<LoadedConfiguration>
  private var fixed: FixedSettings
  private var watch: FileWatch
  /// Reads the apps of Redis; nil when the configuration wants none.
  private(set) var redisApps: RedisAppsWatch?
  /// Whether the apps of Redis were read once, if there are to be any.
  private var isComplete: Bool
  /// Callers who wait for that.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// Whether lanes that start wait for the apps of Redis.
  private nonisolated let awaitsApps: Bool
  private let signal: LoopSignal
  private var isAsked = false
  private var isEnded = false
  /// When to load it again although nothing has changed, by `FleetClock.uptimeMs`; nil when it is in force as a whole.
  private var againAtMs: Int64?

  /// - Parameters:
  ///   - started: the configuration that the worker starts with.
  ///   - marks: its files, as they were before they were read.
  ///   - isStrict: whether an app is never left out.
  ///   - take: has the lanes go by another one from now on.
  init(
    _ started: LoadedConfiguration, from origin: ConfigurationOrigin, marks: FileMarks,
    isStrict: Bool, parts: ConfigurationKeeperParts,
    take: @escaping @Sendable (LoadedConfiguration) async -> Void
  ) throws {
    let loop = try EventLoop(name: "configuration")
    self.loop = loop
    self.origin = origin
    self.isStrict = isStrict
    self.parts = parts
    self.take = take
    inForce = Mutex(started)
    fixed = FixedSettings(started.configuration)
    watch = FileWatch(marks)
    signal = LoopSignal(loop: loop)
    redisApps =
      if started.keys != nil, let place = parts.redisApps {
        try RedisAppsWatch(place, on: loop)
      } else { nil }
    isComplete = redisApps == nil
    awaitsApps = redisApps != nil
    if !isComplete { parts.standing.noteAwaited(Self.awaited) }
    againAtMs = started.apps.leftOut.isEmpty ? nil : Self.laterMs
    parts.standing.noteLoaded(started.digest, uptimeMs: FleetClock.uptimeMs)
  }

  /// The configuration that the worker goes by.
  nonisolated var current: LoadedConfiguration { inForce.withLock { $0 } }

  /// Loads what changes, until `end`.
  func run() async {
    await begin()
    var filesAtMs = FleetClock.uptimeMs + Int64(watch.lookMs)
    while !isEnded {
      let untilFilesMs = UInt64(max(0, filesAtMs - FleetClock.uptimeMs))
      await signal.wait(
        upToMs: redisApps == nil ? untilFilesMs : min(untilFilesMs, WorkerLimits.redisAppsLookMs))
      guard !isEnded else { break }
      if isAsked || FleetClock.uptimeMs >= filesAtMs {
        let waitMs = await turn()
        filesAtMs = FleetClock.uptimeMs + Int64(waitMs)
      }
      await lookAtRedisApps()
    }
    redisApps?.stop()
    completed()
  }

  /// Reads the apps of Redis for the first time, unless Redis is away.
  func begin() async {
    redisApps?.start()
    await redisApps?.waitUntilReady(ms: WorkerLimits.redisFirstLookMs)
    await lookAtRedisApps()
  }

  /// Says what the lanes wait for, if they do.
  /// - Parameter reason: why the apps of Redis were not read yet.
  func noteAwaited(_ reason: String) {
    if !isComplete { parts.standing.noteAwaited("\(Self.awaited): \(reason)") }
  }

  private static let awaited = "waits for the apps of Redis"

  /// Returns when the apps of Redis were read once, or cannot be, or not in `RedisAppsPlace.patienceMs`, or the keeper ends; at
  /// once where there are to be none.
  func complete() async {
    await withCheckedContinuation { waiter in
      // Looked at here and not before: the call lets others in between when its task does not prefer the loop.
      if isComplete || isEnded { waiter.resume() } else { waiting.append(waiter) }
    }
  }

  /// Waits for the apps of Redis as `complete` does, but for a bounded time, also while the keeper's thread hangs in a file system.
  nonisolated func complete(withinMs: UInt64) async {
    guard awaitsApps else { return }
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    Task {
      await complete()
      answer.yield(true)
    }
    let patience = Task {
      try? await Task.sleep(for: .milliseconds(withinMs))
      answer.yield(false)
    }
    defer { patience.cancel() }
    for await isComplete in answers {
      guard !isComplete else { return }
      parts.log.warning(
        "the apps of Redis were not read in \(withinMs / 1_000) s: the lanes start without them")
      Task { await completed() }
      return
    }
  }

  private func lookAtRedisApps() async {
    if !isEnded, await takeRedisApps() { completed() }
  }

  private func completed() {
    isComplete = true
    parts.standing.noteAwaited(nil)
    for waiter in waiting { waiter.resume() }
    waiting = []
  }

  /// Has it load the configuration now, whether its files have changed or not.
  func ask() {
    isAsked = true
    signal.raise()
  }

  func end() {
    isEnded = true
    signal.raise()
    completed()
  }

  /// Ends it, and waits for that unless its thread hangs in a file system.
  /// - Parameter running: the task of `run`.
  /// - Returns: whether it has ended; false after `withinMs`, or when the caller is cancelled.
  nonisolated func end(_ running: Task<Void, Never>, withinMs: UInt64) async -> Bool {
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    Task {
      await end()
      await running.value
      answer.yield(true)
    }
    let patience = Task {
      try? await Task.sleep(for: .milliseconds(withinMs))
      answer.yield(false)
    }
    defer { patience.cancel() }
    for await hasEnded in answers { return hasEnded }
    return false
  }

  /// Looks at the files, and loads the configuration when that is due.
  /// - Returns: how long until the next look, in ms.
  func turn() async -> UInt64 {
    let nowMs = FleetClock.uptimeMs
    let isAsked = self.isAsked
    self.isAsked = false
    if !isAsked {
      switch watch.look(nowMs: nowMs, { FileIdentity(path: $0) }) {
      case .restless: return WorkerLimits.filesSettleMs
      case .calm:
        guard let againAtMs, nowMs >= againAtMs else { return watch.lookMs }
      case .changed: break
      }
    }
    await load(isAsked: isAsked)
    let tookMs = UInt64(max(0, FleetClock.uptimeMs - nowMs))
    return max(watch.lookMs, tookMs * WorkerLimits.loadRest)
  }

  // MARK: Loading

  private func load(isAsked: Bool) async {
    let before = current
    var marks = FileMarks()
    marks.add(files(of: before.configuration))
    do throws(RefusedConfiguration) {
      let next = try read(after: before, &marks)
      let wasRefused = parts.standing.noteRefusal(nil)
      await use(next, instead: before, isTold: isAsked || wasRefused)
      marks = marks.only(files(of: next.configuration))
      awaitRestart(for: next.configuration)
    } catch {
      if parts.standing.noteRefusal(error.alarmCondition) || isAsked {
        parts.log.error("\(error.sentence)")
      }
      await takeInMended(before)
    }
    watch = FileWatch(marks)
    let isWhole = parts.standing.alarmCondition == nil && current.apps.leftOut.isEmpty
    againAtMs = isWhole ? nil : Self.laterMs
  }

  private static var laterMs: Int64 { FleetClock.uptimeMs + WorkerLimits.loadAgainMs }

  /// The configuration's file first: each look includes it.
  private func files(of configuration: Configuration) -> [String] {
    (origin.file.map { [$0] } ?? []) + configuration.files(for: .worker).map(\.path)
  }

  /// The configuration as it is now, if a worker would start with it and no app would be left out that is not already.
  private func read(
    after before: LoadedConfiguration, _ marks: inout FileMarks
  ) throws(RefusedConfiguration) -> LoadedConfiguration {
    let configuration: Configuration
    var apps: ConfiguredApps
    let keys: SealingKeys?
    do throws(ConfigurationError) {
      configuration = try origin.load()
      marks.add(configuration.files(for: .worker).map(\.path))
      // At start, too, an app's bad file is for its app, and any other for the worker.
      let problems = configuration.validateFilesExist(for: .worker)
      if let problem = problems.first(where: { $0.app == nil }) { throw problem }
      guard configuration.hasApps else {
        throw ConfigurationError(
          file: origin.file ?? "configuration", line: nil, field: "apps",
          message: "is empty: a worker needs an app to work for; to end the worker, stop it")
      }
      keys = try SealingKeys(configuration)
      apps = try ConfiguredApps(
        configuration, client: parts.client, clock: parts.clock, after: before.apps)
      if keys == nil, !apps.redis.ids.isEmpty {
        apps = try RedisAppsChange(
          of: apps, configuration, ids: nil, client: parts.client, clock: parts.clock
        ).apps()
      } else if keys != nil, keys != before.keys {
        apps = try apps.readingLeftOutAgain()
      }
      try apps.directory.checkCurl()
    } catch { throw RefusedConfiguration(errors: [error]) }
    let wasLeftOut = isStrict ? [] : Set(before.apps.leftOut.map(\.id))
    let bad = apps.leftOut.filter { !wasLeftOut.contains($0.id) }
    let isAnyLeft = apps.leftOut.count < configuration.apps.count || keys != nil
    guard bad.isEmpty, isAnyLeft else {
      throw RefusedConfiguration(errors: (bad.isEmpty ? apps.leftOut : bad).flatMap(\.errors))
    }
    return LoadedConfiguration(configuration, apps, keys: keys)
  }

  /// A configuration that is refused keeps no app from being sent for that the one in force has left out.
  private func takeInMended(_ before: LoadedConfiguration) async {
    guard !before.apps.leftOut.isEmpty else { return }
    do throws(ConfigurationError) {
      let apps = try before.apps.tryingAgain(
        before.configuration, countMax: WorkerLimits.leftOutTriedMax, client: parts.client,
        clock: parts.clock)
      try apps.directory.checkCurl()
      let next = LoadedConfiguration(before.configuration, apps, keys: before.keys)
      guard apps.errors != before.apps.errors else {
        // Lanes go on as they are; only the order is new in which apps are tried, so that each has its turn.
        inForce.withLock { $0 = next }
        return
      }
      await use(next, instead: before, isTold: false)
    } catch { parts.log.error("apps that were left out are not taken in: \(error)") }
  }

  // MARK: Going by another one

  /// - Parameter isTold: whether the log is told also when nothing has changed.
  private func use(
    _ next: LoadedConfiguration, instead before: LoadedConfiguration, isTold: Bool
  ) async {
    let diff = ConfigurationDiff(from: before, to: next)
    inForce.withLock { $0 = next }
    let level = next.configuration.log.level
    if level != before.configuration.log.level { origin.onLogLevel(level) }
    watchRedisApps(next)
    if next.digest != before.digest || next.apps.leftOut != before.apps.leftOut
      || next.apps.redis != before.apps.redis
    {
      await adopt(next)
      parts.standing.noteLoaded(next.digest, uptimeMs: FleetClock.uptimeMs)
      redisApps?.forgetTold()
    }
    guard isTold || !diff.isEmpty else { return }
    var metadata = diff.metadata
    metadata["digest"] = "\(next.digest)"
    parts.log.notice("\(diff.sentence)", metadata: metadata)
  }

  /// Has the lanes go by it.
  func adopt(_ next: LoadedConfiguration) async {
    inForce.withLock { $0 = next }
    await take(next)
  }

  /// Begins to read the apps of Redis, or ends that, as the configuration wants it.
  private func watchRedisApps(_ next: LoadedConfiguration) {
    guard (next.keys != nil) != (redisApps != nil), let place = parts.redisApps else { return }
    redisApps?.stop()
    redisApps = nil
    parts.standing.noteRedisApps(nil)
    guard next.keys != nil else { return }
    do throws(TLSError) {
      redisApps = try RedisAppsWatch(place, on: loop)
      redisApps?.start()
    } catch { parts.log.error("apps of Redis cannot be read: \(error)") }
  }

  private func awaitRestart(for configuration: Configuration) {
    let next = FixedSettings(configuration)
    let names = fixed.names(differingIn: next)
    fixed.holdNewApps(of: next)
    guard parts.standing.noteAwaitingRestart(names), !names.isEmpty else { return }
    let list = names.joined(separator: ", ")
    parts.log.warning(
      "settings have changed that a worker keeps until it ends; restart it for: \(list)",
      metadata: ["settings": "\(list)"])
  }
}

/// The parts of a worker that its keeper of the configuration uses.
struct ConfigurationKeeperParts: Sendable {
  /// The process, as its alarms name it.
  let worker: String
  /// Exchanges OAuth tokens.
  let client: HTTPClient
  let clock: WallClock
  let standing: ConfigurationStanding
  let log: Logger
  /// Where apps of Redis stand; nil where there are none, whatever the configuration says.
  var redisApps: RedisAppsPlace?
}
