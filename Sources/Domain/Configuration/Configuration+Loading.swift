internal import Foundation
internal import Model
internal import Yams

extension Configuration {
  /// Reads the file (nil: none, the defaults) and the environment.
  package static func load(
    file: String?, environment: [String: String]
  ) throws(ConfigurationError) -> Configuration {
    try parse(try text(of: file), file: file, environment: environment)
  }

  /// - Parameter file: nil for none, whose text is empty.
  private static func text(of file: String?) throws(ConfigurationError) -> String {
    guard let file else { return "" }
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(file: file, line: nil, field: "", message: message)
    }
    if let problem = FileCheck.problem(file) { throw refused(problem) }
    guard let handle = FileHandle(forReadingAtPath: file) else {
      throw refused("cannot be read")
    }
    let data = (try? handle.read(upToCount: ConfigurationLimits.fileBytesMax + 1)) ?? Data()
    guard data.count <= ConfigurationLimits.fileBytesMax else {
      throw refused("is longer than \(ConfigurationLimits.fileBytesMax) bytes")
    }
    guard let yaml = String(validating: data, as: UTF8.self) else {
      throw refused("is not valid UTF-8")
    }
    return yaml
  }

  /// Reads YAML; `file` is where it came from, for messages and relative paths.
  package static func parse(
    _ yaml: String, file: String?, environment: [String: String] = [:]
  ) throws(ConfigurationError) -> Configuration {
    try parse(yaml, ConfigurationSource(file: file, environment: environment))
  }

  /// Reads as `load` does, and goes on behind an error with what is usual in place of the field.
  package static func examine(
    file: String?, environment: [String: String]
  ) -> ConfigurationReading {
    let source = ConfigurationSource(file: file, environment: environment, notesErrors: true)
    let configuration: Configuration?
    do throws(ConfigurationError) {
      configuration = try parse(try text(of: file), source)
    } catch {
      // Nothing more can be read behind it.
      return ConfigurationReading(
        configuration: nil, errors: source.errors + [error], omitted: source.errorsOmitted,
        silent: [])
    }
    return ConfigurationReading(
      configuration: configuration, errors: source.errors, omitted: source.errorsOmitted,
      silent: source.silent)
  }

  private static func parse(
    _ yaml: String, _ source: ConfigurationSource
  ) throws(ConfigurationError) -> Configuration {
    let root = try ConfigurationSection(
      compose(yaml, source), source: source, field: "",
      variables: ConfigurationSource.variablePrefix,
      known: ["redis", "worker", "jobs", "apps", AppsInRedisConfiguration.name, "log", "serve"])
    let jobs = try JobsConfiguration(in: root)
    let shards = try ShardList(in: root)
    var configuration = Configuration(
      worker: try WorkerConfiguration(in: root), jobs: jobs,
      apps: try AppConfiguration.list(in: root, jobs: jobs, shards: shards),
      appsInRedis: try AppsInRedisConfiguration(in: root),
      log: try LogConfiguration(in: root), serve: try ServeConfiguration(in: root))
    configuration.shards = shards
    configuration.adopt(
      files: source.files, passwords: source.passwords.map { ($0, source.file) },
      unusedVariables: source.unusedVariables)
    return configuration
  }

  private static func compose(
    _ yaml: String, _ source: ConfigurationSource
  ) throws(ConfigurationError) -> Node? {
    do { return try Yams.compose(yaml: yaml) } catch let error as YamlError {
      throw refused(error, source)
    } catch {
      throw ConfigurationError(file: source.file, line: nil, field: "", message: "is not YAML")
    }
  }

  /// Yams' own description would repeat lines of the file.
  private static func refused(
    _ error: YamlError, _ source: ConfigurationSource
  ) -> ConfigurationError {
    let line: Int?
    let message: String
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      (line, message) = (mark.line, "is not YAML: \(problem)")
    case .duplicatedKeysInMapping(let names, let context):
      let name = ConfigurationSection.quoted(names.first ?? "")
      (line, message) = (context.mark.line, "\(name) occurs twice in one mapping")
    case .reader(let problem, _, _, _):
      (line, message) = (nil, "is not YAML: \(problem)")
    default:
      (line, message) = (nil, "is not YAML")
    }
    return ConfigurationError(file: source.file, line: line, field: "", message: message)
  }
}

/// A configuration that was read to its end, with every error in it.
package struct ConfigurationReading: Sendable, Equatable {
  /// The configuration with usual values in place of those that are refused: to look at what it names, not to work with
  /// while there are errors. Nil when the file cannot be read, or is not YAML.
  package let configuration: Configuration?
  /// In the order of the reading, one for each field; at most `ConfigurationLimits.errorsMax`.
  package let errors: [ConfigurationError]
  /// How many more there are.
  package let omitted: Int
  /// Fields of which nothing more is to be told, since it would follow from one of the errors.
  package let silent: Set<String>
}
