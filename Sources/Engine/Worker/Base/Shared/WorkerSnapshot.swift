internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Store

/// The part of the configuration that may change while the worker runs: where it can send to, and the rules for jobs. A
/// snapshot is not changed itself. Each lane takes the next one over between two turns, so what is done within a turn
/// goes by one of them.
final class WorkerSnapshot: Sendable {
  let directory: ProviderDirectory
  /// Apps of the configuration for which nothing can be sent.
  let leftOut: [LeftOutApp]
  /// The routes that the process says it has: those of the directory.
  let routes: RouteTable
  let rules: JobRules
  /// The names of rates to which apps of several shards keep.
  let sharedRates: Set<String>
  /// The apps that live in another shard, and those.
  let elsewhere: [String: ShardID]

  init(
    directory: ProviderDirectory, leftOut: [LeftOutApp] = [], routes: RouteTable, rules: JobRules,
    sharedRates: Set<String> = [], elsewhere: [String: ShardID] = [:]
  ) {
    self.sharedRates = sharedRates
    self.elsewhere = elsewhere
    self.directory = directory
    self.leftOut = leftOut
    self.routes = routes
    self.rules = rules
  }
}

/// The rules by which jobs are taken in and kept.
struct JobRules: Sendable {
  /// By app: how many jobs that tell of one bucket, or go to one topic, the fleet starts in a minute; 0 for
  /// any number.
  var eventsPerMinute: [String: Int] = [:]
  /// By app: its time zone, of those that have one.
  var timeZones: [String: String] = [:]
  /// How long the record of a job is kept that has ended.
  let retention: RetentionRules
  /// How long work waits for a worker that can send it.
  let unroutedMs: UInt64
}

extension WorkerSnapshot {
  /// The snapshot of a configuration.
  /// - Parameter apps: its apps, as far as they can be used.
  convenience init(_ configuration: Configuration, _ apps: ConfiguredApps) {
    self.init(
      directory: apps.directory, leftOut: apps.leftOut,
      routes: apps.directory.routes(
        of: configuration.apps.map(\.id), leftOut: Set(apps.leftOut.map(\.id))),
      rules: JobRules(configuration))
  }
}

extension WorkerSnapshot {
  /// The part of a configuration that the lanes of one shard go by: the apps that live there. Nothing is sent there for any
  /// other.
  /// - Parameter homes: the shard of each app.
  convenience init(
    _ configuration: Configuration, _ apps: ConfiguredApps, of shard: ShardID,
    by homes: [String: ShardID]
  ) {
    func isHere(_ app: String) -> Bool { homes[app] == shard }
    let directory = apps.directory.only(isHere)
    self.init(
      directory: directory, leftOut: apps.leftOut.filter { isHere($0.id) },
      routes: directory.routes(
        of: configuration.apps.map(\.id).filter(isHere), leftOut: Set(apps.leftOut.map(\.id))),
      rules: JobRules(configuration),
      sharedRates: Self.sharedRates(of: apps.directory, by: homes),
      elsewhere: homes.filter { $0.value != shard })
  }

  static func sharedRates(
    of directory: ProviderDirectory, by homes: [String: ShardID]
  ) -> Set<String> {
    var shards: [String: Set<ShardID>] = [:]
    for entry in directory.entries {
      guard let shard = homes[entry.app] else { continue }
      for limit in entry.limits { shards[limit.name, default: []].insert(shard) }
    }
    return Set(shards.filter { $0.value.count > 1 }.keys)
  }
}

extension JobRules {
  init(_ configuration: Configuration) {
    self.init(
      eventsPerMinute: Dictionary(
        configuration.apps.map { ($0.id, $0.eventsPerMinute) }, uniquingKeysWith: { $1 }),
      timeZones: Dictionary(
        configuration.apps.compactMap { app in app.timeZone.map { (app.id, $0) } },
        uniquingKeysWith: { $1 }),
      retention: RetentionRules(configuration),
      unroutedMs: UInt64(configuration.worker.unroutedSeconds) * 1_000)
  }
}

/// The snapshot that a lane goes by; loop-bound.
final class LaneSnapshot {
  private(set) var current: WorkerSnapshot

  init(_ snapshot: WorkerSnapshot) { current = snapshot }

  var directory: ProviderDirectory { current.directory }
  var routes: RouteTable { current.routes }
  var rules: JobRules { current.rules }

  /// Goes by this one from now on.
  func use(_ next: WorkerSnapshot) { current = next }
}
