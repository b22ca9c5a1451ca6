internal import HTTPClient
internal import Logging
internal import Providers
internal import PushpoolConfiguration
internal import Reactor
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
  private let client: HTTPClient
  private let clock: WallClock
  private let standing: ConfigurationStanding
  private let log: Logger
  /// Has the lanes go by a configuration.
  private let take: @Sendable (LoadedConfiguration) async -> Void
  private nonisolated let inForce: Mutex<LoadedConfiguration>
  private let fixed: FixedSettings
  private var watch: FileWatch
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
  ) throws(SystemError) {
    let loop = try EventLoop(name: "configuration")
    self.loop = loop
    self.origin = origin
    self.isStrict = isStrict
    client = parts.client
    clock = parts.clock
    standing = parts.standing
    log = parts.log
    self.take = take
    inForce = Mutex(started)
    fixed = FixedSettings(started.configuration)
    watch = FileWatch(marks)
    signal = LoopSignal(loop: loop)
    againAtMs = started.apps.leftOut.isEmpty ? nil : Self.laterMs
    parts.standing.noteLoaded(started.digest, uptimeMs: FleetClock.uptimeMs)
  }

  /// The configuration that the worker goes by.
  nonisolated var current: LoadedConfiguration { inForce.withLock { $0 } }

  /// Loads what changes, until `end`.
  func run() async {
    var waitMs = WorkerLimits.filesLookMs
    while !isEnded {
      await signal.wait(upToMs: waitMs)
      if !isEnded { waitMs = await turn() }
    }
  }

  /// Has it load the configuration now, whether its files have changed or not.
  func ask() {
    isAsked = true
    signal.raise()
  }

  func end() {
    isEnded = true
    signal.raise()
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
        guard let againAtMs, nowMs >= againAtMs else { return WorkerLimits.filesLookMs }
      case .changed: break
      }
    }
    await load(isAsked: isAsked)
    let tookMs = UInt64(max(0, FleetClock.uptimeMs - nowMs))
    return max(WorkerLimits.filesLookMs, tookMs * WorkerLimits.loadRest)
  }

  // MARK: Loading

  private func load(isAsked: Bool) async {
    let before = current
    var marks = FileMarks()
    marks.add(files(of: before.configuration))
    do throws(RefusedConfiguration) {
      let next = try read(after: before, &marks)
      let wasRefused = standing.noteRefusal(nil)
      await use(next, instead: before, isTold: isAsked || wasRefused)
      marks = marks.only(files(of: next.configuration))
      awaitRestart(for: next.configuration)
    } catch {
      if standing.noteRefusal(error.alarmCondition) || isAsked { log.error("\(error.sentence)") }
      await takeInMended(before)
    }
    watch = FileWatch(marks)
    let isWhole = standing.alarmCondition == nil && current.apps.leftOut.isEmpty
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
    let apps: ConfiguredApps
    do throws(ConfigurationError) {
      configuration = try origin.load()
      marks.add(configuration.files(for: .worker).map(\.path))
      // At start, too, an app's bad file is for its app, and any other for the worker.
      let problems = configuration.validateFilesExist(for: .worker)
      if let problem = problems.first(where: { $0.app == nil }) { throw problem }
      guard !configuration.apps.isEmpty else {
        throw ConfigurationError(
          file: origin.file ?? "configuration", line: nil, field: "apps",
          message: "is empty: a worker needs an app to work for; to end the worker, stop it")
      }
      apps = try ConfiguredApps(
        configuration, client: client, clock: clock, after: before.apps.directory)
      try apps.directory.checkCurl()
    } catch { throw RefusedConfiguration(errors: [error]) }
    let wasLeftOut = isStrict ? [] : Set(before.apps.leftOut.map(\.id))
    let bad = apps.leftOut.filter { !wasLeftOut.contains($0.id) }
    guard bad.isEmpty, apps.leftOut.count < configuration.apps.count else {
      throw RefusedConfiguration(errors: (bad.isEmpty ? apps.leftOut : bad).flatMap(\.errors))
    }
    return LoadedConfiguration(configuration, apps)
  }

  /// A configuration that is refused keeps no app from being sent for that the one in force has left out.
  private func takeInMended(_ before: LoadedConfiguration) async {
    guard !before.apps.leftOut.isEmpty else { return }
    do throws(ConfigurationError) {
      let apps = try before.apps.tryingAgain(
        before.configuration, countMax: WorkerLimits.leftOutTriedMax, client: client, clock: clock)
      try apps.directory.checkCurl()
      let next = LoadedConfiguration(before.configuration, apps)
      guard apps.errors != before.apps.errors else {
        // Lanes go on as they are; only the order is new in which apps are tried, so that each has its turn.
        inForce.withLock { $0 = next }
        return
      }
      await use(next, instead: before, isTold: false)
    } catch { log.error("apps that were left out are not taken in: \(error)") }
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
    if next.digest != before.digest || next.apps.leftOut != before.apps.leftOut {
      await take(next)
      standing.noteLoaded(next.digest, uptimeMs: FleetClock.uptimeMs)
    }
    guard isTold || !diff.isEmpty else { return }
    var metadata = diff.metadata
    metadata["digest"] = "\(next.digest)"
    log.notice("\(diff.sentence)", metadata: metadata)
  }

  private func awaitRestart(for configuration: Configuration) {
    let names = fixed.names(differingIn: FixedSettings(configuration))
    guard standing.noteAwaitingRestart(names), !names.isEmpty else { return }
    let list = names.joined(separator: ", ")
    log.warning(
      "settings have changed that a worker keeps until it ends; restart it for: \(list)",
      metadata: ["settings": "\(list)"])
  }
}

/// The parts of a worker that its keeper of the configuration uses.
struct ConfigurationKeeperParts: Sendable {
  /// Exchanges OAuth tokens.
  let client: HTTPClient
  let clock: WallClock
  let standing: ConfigurationStanding
  let log: Logger
}
