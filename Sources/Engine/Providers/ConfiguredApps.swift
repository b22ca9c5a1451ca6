package import Configuration
package import HTTPClient

/// The providers of a configuration's apps, and the apps of it that cannot be sent to.
package struct ConfiguredApps: Sendable {
  package let directory: ProviderDirectory
  /// In the order of the configuration.
  package let leftOut: [LeftOutApp]

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
    let files = AppFiles()
    var builder = ProviderBuilder(client: client, clock: clock, after: previous)
    var leftOut: [LeftOutApp] = []
    for (index, app) in configuration.apps.enumerated() {
      do throws(MaterialProblems) {
        try builder.add(try files.material(of: app).get())
      } catch {
        leftOut.append(
          LeftOutApp(
            id: app.id,
            errors: error.all.map { configuration.error(about: $0, field: "apps[\(index)]") }))
      }
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

/// An app that is sent nothing to, since something that it names cannot be used.
package struct LeftOutApp: Sendable, Equatable {
  package let id: String
  /// One at least, each at the line of the configuration that it is about.
  package let errors: [ConfigurationError]

  package init(id: String, errors: [ConfigurationError]) {
    self.id = id
    self.errors = errors
  }
}

extension ProviderDirectory {
  /// Loads every key, account and certificate of a configuration; the error names the file and field that is wrong.
  ///
  /// - Parameter client: exchanges OAuth tokens; shared.
  package init(
    _ configuration: Configuration, client: HTTPClient, clock: WallClock = .system
  ) throws(ConfigurationError) {
    let apps = try ConfiguredApps(configuration, client: client, clock: clock)
    if let error = apps.leftOut.first?.errors.first { throw error }
    self = apps.directory
  }
}

extension Configuration {
  /// The complaint at the line of the configuration that names the file.
  /// - Parameter field: the app's, which the part belongs to.
  fileprivate func error(about problem: MaterialProblem, field: String) -> ConfigurationError {
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
