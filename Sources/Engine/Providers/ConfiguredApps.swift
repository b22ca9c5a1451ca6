package import HTTPClient
package import PushpoolConfiguration

/// The providers of a process's apps, those of its configuration file and those of Redis, and the apps that cannot be sent to.
package struct ConfiguredApps: Sendable {
  package let directory: ProviderDirectory
  /// The apps of the configuration file among them, in its order.
  package let leftOut: [LeftOutApp]
  /// The apps of Redis.
  package let redis: RedisApps

  /// All apps that are left out, those of the file first.
  package var allLeftOut: [LeftOutApp] {
    leftOut + redis.leftOut.values.sorted { $0.id < $1.id }
  }

  /// The errors of those that are left out, by app.
  package var errors: [String: [ConfigurationError]] {
    Dictionary(leftOut.map { ($0.id, $0.errors) }, uniquingKeysWith: { $1 })
  }

  /// The apps of Redis that are to be read although nothing has changed of them: those of which the process knows no more than their
  /// names, and those that found no place and fit in now.
  package var toBeRead: Set<String> {
    redis.unread.union(redis.fitting(ProviderLimits.entriesMax - directory.entries.count))
  }

  /// Loads every key, account and certificate. An app with a file that cannot be used is left out as a whole, and keeps
  /// none of the others.
  ///
  /// - Parameters:
  ///   - client: exchanges OAuth tokens; shared.
  ///   - previous: the apps that these follow, of which goes on what is the same, with those of Redis that the configuration
  ///     does not name; nil for none.
  /// - Throws: when there are more networks than a process can have.
  package init(
    _ configuration: Configuration, client: HTTPClient, clock: WallClock = .system,
    after previous: ConfiguredApps? = nil
  ) throws(ConfigurationError) {
    try self.init(
      configuration, ProviderBuilder(client: client, clock: clock, after: previous?.directory),
      apps: Array(configuration.apps.indices), others: [],
      unfit: Dictionary(grouping: configuration.validateFilesExist(for: .worker)) { $0.app ?? -1 },
      after: previous)
  }

  init(
    _ directory: ProviderDirectory, leftOut: [LeftOutApp], redis: RedisApps
  ) throws(ConfigurationError) {
    try Self.check(directory)
    self.directory = directory
    self.leftOut = leftOut
    self.redis = redis
  }

  /// The same, and the apps of Redis that are left out are to be read again.
  package func readingLeftOutAgain() throws(ConfigurationError) -> ConfiguredApps {
    var redis = redis
    redis.readLeftOutAgain()
    return try ConfiguredApps(directory, leftOut: leftOut, redis: redis)
  }

  /// Tries apps once more that were left out. Nothing is changed of the others.
  /// - Parameters:
  ///   - configuration: the same as before.
  ///   - countMax: how many to try, from the first on.
  /// - Returns: the apps as they are then; those that were tried in vain stand behind the others.
  package func tryingAgain(
    _ configuration: Configuration, countMax: Int, client: HTTPClient, clock: WallClock = .system
  ) throws(ConfigurationError) -> ConfiguredApps {
    let tried = Set(leftOut.prefix(countMax).map(\.id))
    let indices = configuration.apps.indices.filter { tried.contains(configuration.apps[$0].id) }
    return try ConfiguredApps(
      configuration, ProviderBuilder(client: client, clock: clock, extending: directory),
      apps: indices, others: Array(leftOut.dropFirst(countMax)),
      unfit: Dictionary(
        grouping: configuration.validateFilesExist(for: .worker, ofApps: Set(indices))
      ) { $0.app ?? -1 }, redis: redis)
  }

  /// - Parameters:
  ///   - apps: the positions of those to add.
  ///   - others: left out besides.
  ///   - unfit: the files of apps that are not to be used, by position.
  ///   - previous: the apps of whose directory those of Redis are to be kept; nil when the builder has them.
  ///   - redis: the apps of Redis that the builder has.
  fileprivate init(
    _ configuration: Configuration, _ start: ProviderBuilder, apps: [Int], others: [LeftOutApp],
    unfit: [Int: [ConfigurationError]], after previous: ConfiguredApps? = nil,
    redis: RedisApps = RedisApps()
  ) throws(ConfigurationError) {
    let files = AppFiles()
    var builder = start
    var leftOut = others
    for index in apps {
      let app = configuration.apps[index]
      var errors = unfit[index] ?? []
      do throws(MaterialProblems) {
        let material = try files.material(of: app).get()
        if errors.isEmpty { try builder.add(material) }
      } catch {
        let found = error.all.map { configuration.error(about: $0, field: "apps[\(index)]") }
        errors += found.filter { error in !errors.contains { $0.field == error.field } }
      }
      if !errors.isEmpty { leftOut.append(LeftOutApp(id: app.id, errors: errors)) }
    }
    let kept = previous.map {
      Self.keep($0, in: &builder, besides: Set(configuration.apps.map(\.id)))
    }
    try self.init(builder.directory(), leftOut: leftOut, redis: kept ?? redis)
  }

  /// Keeps apps of Redis that the configuration file does not name. Those that find no place are left out: no other app makes the
  /// file's impossible.
  private static func keep(
    _ previous: ConfiguredApps, in builder: inout ProviderBuilder, besides named: Set<String>
  ) -> RedisApps {
    var redis = previous.redis
    redis.part(from: named)
    let usable = redis.usable
    let kept = previous.directory.entries.filter { usable[$0.app] != nil }
    let room = ProviderLimits.entriesMax - builder.count
    guard kept.count > room else {
      builder.keep(kept)
      return redis
    }
    var left = max(0, room)
    let byApp = Dictionary(grouping: kept, by: \.app)
    for (app, entries) in byApp.sorted(by: { $0.key < $1.key }) {
      if entries.count <= left {
        builder.keep(entries)
        left -= entries.count
      } else {
        redis.leaveOut(
          app, [ConfigurationError(ofRedisApp: app, part: "", message: ProviderLimits.noPlace)],
          placesNeeded: entries.count)
      }
    }
    return redis
  }

  private static func check(_ directory: ProviderDirectory) throws(ConfigurationError) {
    let count = directory.entries.count
    guard count <= ProviderLimits.entriesMax else {
      throw ConfigurationError(
        file: "configuration", line: nil, field: "apps",
        message: "have \(count) networks and environments between them, and must have at most "
          + "\(ProviderLimits.entriesMax): give some to another worker")
    }
    guard directory.numbersEnd <= ProviderLimits.entryNumbersMax else {
      throw ConfigurationError(
        file: "configuration", line: nil, field: "apps",
        message:
          "have had \(directory.numbersEnd) networks and environments since the worker began, each counted again "
          + "whenever its key or its account changes, and the worker can count \(ProviderLimits.entryNumbersMax): "
          + "restart it, for nothing else helps")
    }
  }
}

/// An app of the configuration for which nothing is sent, since something that it names cannot be used.
package struct LeftOutApp: Sendable, Equatable {
  package let id: String
  /// One at least, each at the line of the configuration that it is about.
  package let errors: [ConfigurationError]

  package init(id: String, errors: [ConfigurationError]) {
    self.id = id
    self.errors = errors
  }

  /// The sentence for operators: the first error, and how many others there are.
  package var sentence: String {
    let more = errors.count - 1
    return "\(id) is left out, and its jobs wait: \(errors.first.map { "\($0)" } ?? "")"
      + (more > 0 ? " (and \(more) more)" : "")
  }
}

extension ProviderDirectory {
  /// Loads every key, account and certificate of a configuration; the error names the file and field that is wrong.
  ///
  /// - Parameter client: exchanges OAuth tokens; shared.
  package init(
    _ configuration: Configuration, client: HTTPClient, clock: WallClock = .system
  ) throws(ConfigurationError) {
    let apps = try ConfiguredApps(
      configuration, ProviderBuilder(client: client, clock: clock),
      apps: Array(configuration.apps.indices), others: [], unfit: [:])
    if let error = apps.leftOut.first?.errors.first { throw error }
    self = apps.directory
  }
}

extension Configuration {
  /// The complaint at the line of the configuration that names the file.
  /// - Parameter field: the app's, which the part belongs to.
  func error(about problem: MaterialProblem, field: String) -> ConfigurationError {
    let field = "\(field).\(problem.part)"
    guard let source = problem.source else {
      return ConfigurationError(
        file: "configuration", line: nil, field: field, message: problem.message)
    }
    let place = files.first { $0.path == source && $0.field == field }
    return ConfigurationError(
      file: place?.namedIn ?? source, line: place?.line, field: field, message: problem.message)
  }
}
