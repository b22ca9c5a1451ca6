import HTTPClient
import LocalServices
import Logging
import Providers
import PushpoolConfiguration
import Reactor
import Store
import Synchronization
import TestSupport

@testable import Worker

/// A configuration file with its keys, and what a worker would make of it.
struct ReloadFolder {
  /// The keys of Redis begin with it.
  static let prefix = "{pp}"

  let folder: TemporaryFolder
  let key: APNsSigningKey
  let file: String

  init() throws {
    folder = try TemporaryFolder()
    key = try APNsSigningKey(folder: folder.path)
    file = folder.file("pushpool.yaml")
  }

  /// Writes the configuration of these apps, each with a copy of the key as `<id>.p8`.
  /// - Parameters:
  ///   - more: further sections.
  ///   - fields: further fields of an app, by its id.
  func write(_ apps: [String], _ more: String = "", fields: [String: String] = [:]) throws {
    var lines = ["apps:"]
    for app in apps {
      let path = keyFile(of: app)
      if TextFile.read(path, bytesMax: 1) == nil { try copyKey(to: app) }
      lines += [
        "  - id: \(app)", "    apns:", "      production:", "        key_file: \(app).p8",
        "        key_id: \(key.keyID)", "        team_id: \(key.teamID)",
        "        topic: com.example.\(app)",
      ]
      if let field = fields[app] { lines.append("    \(field)") }
    }
    try PrivateFile.write("\(more)\n" + lines.joined(separator: "\n") + "\n", to: file)
  }

  func keyFile(of app: String) -> String { folder.file("\(app).p8") }

  func copyKey(to app: String) throws {
    let text = TextFile.read(key.file, bytesMax: 4_096) ?? ""
    try PrivateFile.write(text, to: keyFile(of: app))
  }

  /// Puts another key in place of an app's.
  func replaceKey(of app: String) throws {
    let own = try TemporaryFolder()
    let other = try APNsSigningKey(folder: own.path)
    try PrivateFile.write(
      TextFile.read(other.file, bytesMax: 4_096) ?? "", to: keyFile(of: app))
  }

  func load() throws(ConfigurationError) -> Configuration {
    try Configuration.load(file: file, environment: [:])
  }

  func loaded(after previous: LoadedConfiguration? = nil) throws -> LoadedConfiguration {
    let configuration = try load()
    return LoadedConfiguration(
      configuration,
      try ConfiguredApps(
        configuration, client: HTTPClient(), after: previous?.apps),
      keys: try SealingKeys(configuration))
  }

  /// Runs the body with a keeper on a thread of its own, which takes turns only when it is asked to.
  /// - Parameters:
  ///   - redis: has apps of Redis.
  ///   - patienceMs: for how long those are waited for that cannot be read.
  ///   - begin: makes another configuration to start with of the one that is loaded.
  ///   - onRead: called before the configuration is loaded anew.
  func withKeeper<Value>(
    isStrict: Bool = false, levels: Levels = Levels(), redis: RedisServer? = nil,
    patienceMs: Int64 = WorkerLimits.redisAppsPatienceMs,
    beginningWith begin: (LoadedConfiguration) throws -> LoadedConfiguration = { $0 },
    onRead: @escaping @Sendable () -> Void = {},
    _ body: (ConfigurationKeeper, Taken) async throws -> Value
  ) async throws -> Value {
    let file = file
    let origin = ConfigurationOrigin(
      file: file, onLogLevel: { levels.add($0) },
      read: { () throws(ConfigurationError) in
        onRead()
        return try Configuration.load(file: file, environment: [:])
      })
    let started = try begin(loaded())
    var marks = FileMarks()
    marks.add([file] + started.configuration.files(for: .worker).map(\.path))
    let taken = Taken()
    let keeper = try ConfigurationKeeper(
      started, from: origin, marks: marks, isStrict: isStrict,
      parts: ConfigurationKeeperParts(
        worker: "w1", client: HTTPClient(), clock: .system, standing: taken.standing,
        log: taken.lines.logger,
        redisApps: redis.map {
          RedisAppsPlace(
            endpoint: $0.endpoint, prefix: Self.prefix, routes: taken.routes,
            patienceMs: patienceMs)
        }),
      take: { taken.add($0) })
    try keeper.loop.start()
    defer { keeper.loop.stop() }
    return try await body(keeper, taken)
  }

  /// The configurations that lanes were to go by.
  final class Taken: Sendable {
    private let all = Mutex<[LoadedConfiguration]>([])
    let standing = ConfigurationStanding()
    let routes = FleetRoutes()
    let lines = LogLines()

    func add(_ next: LoadedConfiguration) { all.withLock { $0.append(next) } }
    var count: Int { all.withLock { $0.count } }
    var last: LoadedConfiguration? { all.withLock { $0.last } }
    var fields: [String: String] {
      Dictionary(standing.fields(bootedAtMs: 0), uniquingKeysWith: { $1 })
    }
  }

  /// The levels that were to be logged.
  final class Levels: Sendable {
    private let all = Mutex<[LogConfiguration.Level]>([])

    func add(_ level: LogConfiguration.Level) { all.withLock { $0.append(level) } }
    var told: [LogConfiguration.Level] { all.withLock { $0 } }
  }
}
