internal import Logging
internal import Model
internal import Providers
internal import PushpoolConfiguration

/// The differences between two configurations of a worker, by name. It has no value of a setting, so no secret either.
struct ConfigurationDiff: Equatable {
  struct ChangedApp: Equatable {
    let id: String
    /// The parts that are other, such as `apns.production`: settings, or what their files hold.
    let parts: [String]
  }

  /// Apps, each in the order of its configuration.
  private(set) var added: [String] = []
  private(set) var removed: [String] = []
  private(set) var changed: [ChangedApp] = []
  /// Apps that were left out, and can be sent for.
  private(set) var mended: [String] = []
  /// Settings that are no app's.
  private(set) var settings: [String] = []

  init(from before: LoadedConfiguration, to next: LoadedConfiguration) {
    let former = Self.byID(before.configuration)
    let present = Self.byID(next.configuration)
    let wasLeftOut = Set(before.apps.leftOut.map(\.id))
    let isLeftOut = Set(next.apps.leftOut.map(\.id))
    removed = before.configuration.apps.map(\.id).filter { present[$0] == nil }
    for app in next.configuration.apps {
      guard let old = former[app.id] else {
        added.append(app.id)
        continue
      }
      if wasLeftOut.contains(app.id) {
        if !isLeftOut.contains(app.id) { mended.append(app.id) }
        continue
      }
      let networks = Self.networks(of: app.id, before.apps.directory, next.apps.directory)
      let parts = networks + Self.rules(old, app)
      if !parts.isEmpty { changed.append(ChangedApp(id: app.id, parts: parts)) }
    }
    settings = Self.settings(before.configuration, next.configuration)
    if before.keys != next.keys { settings.append("apps_in_redis.key_files") }
  }

  var isEmpty: Bool {
    added.isEmpty && removed.isEmpty && changed.isEmpty && mended.isEmpty && settings.isEmpty
  }

  private static func byID(_ configuration: Configuration) -> [String: AppConfiguration] {
    Dictionary(configuration.apps.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
  }

  /// The networks that an app has now, has no more, or is sent to otherwise than before.
  private static func networks(
    of app: String, _ before: ProviderDirectory, _ next: ProviderDirectory
  ) -> [String] {
    var parts: [String] = []
    for network in Network.allCases {
      for environment in PushEnvironment.allCases {
        let ways = [before, next].map { directory in
          let number = directory.number(app: app, network: network, environment: environment)
          return Way(number: number, rates: number.flatMap { directory.entry($0)?.limits } ?? [])
        }
        guard ways[0] != ways[1] else { continue }
        let part =
          network.traits.hasAccountPerEnvironment
          ? "\(network.rawValue).\(environment.rawValue)" : network.rawValue
        if parts.last != part { parts.append(part) }
      }
    }
    return parts
  }

  /// How one network of an app is sent to.
  private struct Way: Equatable {
    let number: Int?
    /// Without that of the app as a whole.
    let rates: [RateLimit]

    init(number: Int?, rates: [RateLimit]) {
      self.number = number
      self.rates = rates.filter { !$0.isOfApp }
    }
  }

  private static func rules(_ before: AppConfiguration, _ next: AppConfiguration) -> [String] {
    [
      ("pushes_per_second", before.pushesPerSecond != next.pushesPerSecond),
      ("events_per_minute", before.eventsPerMinute != next.eventsPerMinute),
      ("time_zone", before.timeZone != next.timeZone), ("jobs", before.jobs != next.jobs),
    ].compactMap { name, isOther in isOther ? name : nil }
  }

  private static func settings(_ before: Configuration, _ next: Configuration) -> [String] {
    [
      ("jobs", before.jobs != next.jobs),
      ("worker.unrouted_seconds", before.worker.unroutedSeconds != next.worker.unroutedSeconds),
      ("log.level", before.log.level != next.log.level),
    ].compactMap { name, isOther in isOther ? name : nil }
  }

  // MARK: In the log

  /// The sentence for the log: how many apps are new, and so on.
  var sentence: String {
    guard !isEmpty else { return "the configuration was loaded anew, and nothing has changed" }
    let counts = [
      (added.count, "added"), (removed.count, "removed"), (changed.count, "changed"),
      (mended.count, "mended"),
    ].filter { $0.0 > 0 }.map { "\($0) \($0 == 1 ? "app" : "apps") \($1)" }
    let all = counts + (settings.isEmpty ? [] : ["settings changed"])
    return "the configuration was loaded anew: " + all.joined(separator: ", ")
  }

  /// The names, of each kind a bounded number.
  var metadata: Logger.Metadata {
    let lists = [
      ("added", added), ("removed", removed),
      ("changed", changed.map { "\($0.id) (\($0.parts.joined(separator: ", ")))" }),
      ("mended", mended), ("settings", settings),
    ]
    var metadata: Logger.Metadata = [:]
    for (name, names) in lists where !names.isEmpty {
      metadata[name] = .string(Self.listed(names))
    }
    return metadata
  }

  /// The first of some names, and how many others there are.
  static func listed(_ names: [String]) -> String {
    let more = names.count - WorkerLimits.diffNamesMax
    return names.prefix(WorkerLimits.diffNamesMax).joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }
}
