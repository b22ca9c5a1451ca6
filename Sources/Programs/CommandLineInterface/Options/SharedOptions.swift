internal import ArgumentParser
internal import Configuration
internal import Glibc
internal import Store

/// The options that every command has.
struct SharedOptions: ParsableArguments {
  static let fileDefault = "pushpool.yaml"

  @Option(
    help: ArgumentHelp(
      "The configuration file (default: $PUSHPOOL_CONFIG, or ./pushpool.yaml if there is one).",
      valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "Where Redis is: redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// (default: "
        + "the configuration's, $PUSHPOOL_REDIS_URL, or redis://127.0.0.1:6379/0).",
      valueName: "url"))
  var redis: String?

  @Option(
    help: ArgumentHelp(
      "What every key begins with (default: the configuration's, or pushpool).",
      valueName: "prefix"))
  var prefix: String?

  @Flag(help: "Print the result as JSON, for programs.")
  var json = false

  /// The variables to set in place of the file and the environment; the command line goes before both.
  private var overrides: [(option: String, variable: String, value: String?)] {
    [("--redis", "PUSHPOOL_REDIS_URL", redis), ("--prefix", "PUSHPOOL_REDIS_PREFIX", prefix)]
  }

  /// Loads as `load` does, with a remark on standard error for each secret that everybody on the machine may read.
  func configuration() throws(CommandFailure) -> Configuration {
    let configuration = try load()
    for sentence in configuration.secretsReadableByAll() {
      Console.standard.note("warning: \(sentence)")
    }
    return configuration
  }

  /// The configuration: of the file if there is one, else the defaults and the environment.
  func load(
    _ more: [(option: String, variable: String, value: String?)] = []
  ) throws(CommandFailure) -> Configuration {
    var environment = Environment.variables
    let file = config ?? environment["PUSHPOOL_CONFIG"]
    if file?.isEmpty == true {
      throw CommandFailure(
        .configuration, "PUSHPOOL_CONFIG is set but empty: give it a value, or unset it")
    }
    environment["PUSHPOOL_CONFIG"] = nil
    let overrides = overrides + more
    for override in overrides where override.value != nil {
      environment[override.variable] = override.value
    }
    do throws(ConfigurationError) {
      return try Configuration.load(
        file: file ?? (access(Self.fileDefault, F_OK) == 0 ? Self.fileDefault : nil),
        environment: environment)
    } catch {
      if let override = overrides.first(where: { $0.value != nil && $0.variable == error.file }) {
        throw CommandFailure(.usage, "\(override.option) \(error.message)")
      }
      throw CommandFailure(.configuration, error.description)
    }
  }

  /// A session with Redis for this command.
  /// - Parameter user: as of `RedisSession.open`.
  func openSession(as user: DocumentedUser) async throws(CommandFailure) -> RedisSession {
    try await RedisSession.open(configuration().redis, as: user)
  }
}
