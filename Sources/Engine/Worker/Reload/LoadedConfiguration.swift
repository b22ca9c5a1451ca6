internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Store

/// A configuration, and the apps of it that can be sent for, with all that their files held.
struct LoadedConfiguration: Sendable {
  let configuration: Configuration
  let apps: ConfiguredApps
  /// The keys of apps of Redis; nil when there are to be none.
  let keys: SealingKeys?
  /// Equal in all workers that send for the same apps in the same way and by the same rules, whatever their files are called and
  /// however many lanes they have. Apps of Redis are no part of it: they change by themselves. Nothing of a key can be had from it.
  let digest: String
  /// The apps of Redis that a worker which starts now would leave out, though this one has them; nil when there are none.
  let missed: MissedApps?

  init(_ configuration: Configuration, _ apps: ConfiguredApps, keys: SealingKeys? = nil) {
    self.configuration = configuration
    self.apps = apps
    self.keys = keys
    digest = Self.digest(of: configuration, apps, keys)
    missed = keys.flatMap { MissedApps(of: apps.redis, by: $0) }
  }

  private static func digest(
    of configuration: Configuration, _ apps: ConfiguredApps, _ keys: SealingKeys?
  ) -> String {
    let left = Set(apps.leftOut.map(\.id))
    let named = Set(configuration.apps.map(\.id))
    var origins: [String: [String]] = [:]
    for entry in apps.directory.entries where named.contains(entry.app) {
      origins[entry.app, default: []].append(entry.originText)
    }
    var lines = configuration.apps.map { app in
      let ways = left.contains(app.id) ? ["left out"] : (origins[app.id] ?? []).sorted()
      let retention = text((app.jobs ?? configuration.jobs).retention)
      return "\(app.id) \(app.eventsPerMinute) \(app.timeZone ?? "-") \(retention) "
        + ways.joined(separator: ",")
    }.sorted()
    lines.append("\(text(configuration.jobs.retention)) \(configuration.worker.unroutedSeconds)")
    // Whoever rotates a key waits for all workers to have the new one before anything is sealed with it.
    if let keys { lines.append(keys.all.map(\.id).joined(separator: ",")) }
    // With a name before it, for it may be digits alone.
    return "sha256:" + ContentDigest.of(Array(lines.joined(separator: "\n").utf8)).prefix(16)
  }

  private static func text(_ retention: JobRetention) -> String {
    "\(retention.manySeconds)/\(retention.namedSeconds)/\(retention.unnamedSeconds)"
  }
}

/// The reasons why a configuration is not taken: one at least, each at its line.
struct RefusedConfiguration: Error {
  let errors: [ConfigurationError]

  /// The sentence for operators: the first error, and how many others there are.
  var sentence: String {
    let more = errors.count - 1
    return "the configuration is refused, and the former one goes on: "
      + (errors.first.map { "\($0)" } ?? "") + (more > 0 ? " (and \(more) more)" : "")
  }

  /// The alarm, which is one for all workers that refuse the same: of the first error's field, or of the file where that is
  /// wrong as a whole.
  var alarmCondition: AlarmCondition {
    let place = errors.first.map { $0.field.isEmpty ? $0.file : $0.field } ?? ""
    return AlarmCondition(
      field: AlarmKind.configuration.field(FieldPointer.printable(place)), sentence: sentence)
  }
}
