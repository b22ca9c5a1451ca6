internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Store

/// The part of the configuration that may change while the worker runs: where it can send to, and the rules for jobs. A
/// snapshot is not changed itself. Each lane takes the next one over between two turns, so what is done within a turn
/// goes by one of them.
final class WorkerSnapshot: Sendable {
  let directory: ProviderDirectory
  /// Apps for which nothing can be sent.
  let leftOut: [LeftOutApp]
  /// Apps of Redis that the configuration file names, too, so that the file's count.
  let displaced: [String]
  /// The routes that the process says it has: those of the directory.
  let routes: RouteTable
  let rules: JobRules
  /// The names of rates to which apps of several shards keep.
  let sharedRates: Set<String>
  let elsewhere: AppsElsewhere

  init(
    directory: ProviderDirectory, leftOut: [LeftOutApp] = [], displaced: [String] = [],
    routes: RouteTable, rules: JobRules, sharedRates: Set<String> = [],
    elsewhere: AppsElsewhere = AppsElsewhere()
  ) {
    self.sharedRates = sharedRates
    self.elsewhere = elsewhere
    self.directory = directory
    self.leftOut = leftOut
    self.displaced = displaced
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
    let leftOut = apps.allLeftOut
    self.init(
      directory: apps.directory, leftOut: leftOut, displaced: apps.redis.displaced.sorted(),
      routes: apps.directory.routes(
        of: configuration.apps.map(\.id), leftOut: Set(leftOut.map(\.id)),
        redisApps: apps.redis.usable.keys),
      rules: JobRules(configuration, apps.redis.usable))
  }
}

extension WorkerSnapshot {
  /// The part of a configuration that the lanes of one shard go by: the apps that live there. Nothing is sent there for any
  /// other. Apps of Redis live at home.
  /// - Parameters:
  ///   - homes: the shard of each app of the configuration.
  ///   - home: the fleet's.
  convenience init(
    _ configuration: Configuration, _ apps: ConfiguredApps, of shard: ShardID,
    by homes: [String: ShardID], home: ShardID
  ) {
    func isHere(_ app: String) -> Bool { (homes[app] ?? home) == shard }
    let directory = apps.directory.only(isHere)
    let leftOut = apps.allLeftOut.filter { isHere($0.id) }
    let redis = shard == home ? apps.redis : RedisApps()
    self.init(
      directory: directory, leftOut: leftOut, displaced: redis.displaced.sorted(),
      routes: directory.routes(
        of: configuration.apps.map(\.id).filter(isHere), leftOut: Set(leftOut.map(\.id)),
        redisApps: redis.usable.keys),
      rules: JobRules(configuration, redis.usable),
      sharedRates: Self.sharedRates(of: apps.directory, by: homes, home: home),
      elsewhere: AppsElsewhere(
        named: homes.filter { $0.value != shard },
        atHome: shard == home ? nil : (home, apps.redis)))
  }

  /// - Parameters:
  ///   - homes: the shard of each app of the configuration.
  ///   - home: that of all others.
  static func sharedRates(
    of directory: ProviderDirectory, by homes: [String: ShardID], home: ShardID
  ) -> Set<String> {
    var shards: [String: Set<ShardID>] = [:]
    for entry in directory.entries {
      let shard = homes[entry.app] ?? home
      for limit in entry.limits { shards[limit.name, default: []].insert(shard) }
    }
    return Set(shards.filter { $0.value.count > 1 }.keys)
  }
}

extension JobRules {
  /// - Parameter redisApps: the rules of apps of Redis, none of which the configuration has.
  init(_ configuration: Configuration, _ redisApps: [String: AppRules] = [:]) {
    self.init(
      eventsPerMinute: Dictionary(
        configuration.apps.map { ($0.id, $0.eventsPerMinute) }, uniquingKeysWith: { $1 }
      ).merging(redisApps.mapValues(\.eventsPerMinute)) { $1 },
      timeZones: Dictionary(
        configuration.apps.compactMap { app in app.timeZone.map { (app.id, $0) } },
        uniquingKeysWith: { $1 }
      ).merging(redisApps.compactMapValues(\.timeZone)) { $1 },
      retention: RetentionRules(configuration, redisApps),
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
