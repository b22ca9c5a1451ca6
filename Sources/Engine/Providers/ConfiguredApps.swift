package import HTTPClient
package import PushpoolConfiguration

/// The providers of a configuration's apps, and the apps of it that cannot be sent to.
package struct ConfiguredApps: Sendable {
  package let directory: ProviderDirectory
  /// In the order of the configuration.
  package let leftOut: [LeftOutApp]

  /// The errors of those that are left out, by app.
  package var errors: [String: [ConfigurationError]] {
    Dictionary(leftOut.map { ($0.id, $0.errors) }, uniquingKeysWith: { $1 })
  }

  /// Loads every key, account and certificate. An app with a file that cannot be used is left out as a whole, and keeps
  /// none of the others.
  ///
  /// - Parameters:
  ///   - client: exchanges OAuth tokens; shared.
  ///   - previous: the directory that this one follows, of which goes on what is the same; nil for none.
  /// - Throws: when there are more networks than a process can have.
  package init(
    _ configuration: Configuration, client: HTTPClient, clock: WallClock = .system,
    after previous: ProviderDirectory? = nil
  ) throws(ConfigurationError) {
    try self.init(
      configuration, ProviderBuilder(client: client, clock: clock, after: previous),
      apps: Array(configuration.apps.indices), others: [],
      unfit: Dictionary(grouping: configuration.validateFilesExist(for: .worker)) { $0.app ?? -1 })
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
      ) { $0.app ?? -1 })
  }

  /// - Parameters:
  ///   - apps: the positions of those to add.
  ///   - others: left out besides.
  ///   - unfit: the files of apps that are not to be used, by position.
  fileprivate init(
    _ configuration: Configuration, _ start: ProviderBuilder, apps: [Int], others: [LeftOutApp],
    unfit: [Int: [ConfigurationError]]
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
    let directory = builder.directory()
    try Self.check(directory)
    self.directory = directory
    self.leftOut = leftOut
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
          "have been changed \(directory.numbersEnd) times since the worker began, more often than it "
          + "can follow: restart the worker")
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
