internal import ArgumentParser
internal import Model
internal import ProgramSetup
internal import PushpoolConfiguration

/// The options of the program.
struct ServerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pushpool-server",
    abstract: "Serves the HTTP API, the dashboard and metrics, until it is told to stop.",
    discussion: """
        pushpool-server --config pushpool.yaml
        pushpool-server --listen 0.0.0.0:8080 --metrics 127.0.0.1:9464

      pushpool serve starts this program, and pushpool serve --help explains it.
      """,
    version: PushpoolVersion.text)

  @Option(
    help: ArgumentHelp(
      "Where the API and the dashboard are (default: the configuration's, or 127.0.0.1:8080).",
      discussion: "With port 0 the system chooses a port, and the log names it.",
      valueName: "host:port"))
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "Where /metrics is, or off (default: the configuration's, or off).", valueName: "host:port"))
  var metrics: String?

  @Option(
    help: ArgumentHelp(
      "The configuration file (default: $PUSHPOOL_CONFIG, or ./pushpool.yaml if there is one).",
      valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "Where Redis is (default: the configuration's, $PUSHPOOL_REDIS_URL, or redis://127.0.0.1:6379/0).",
      valueName: "url"))
  var redis: String?

  @Option(
    help: ArgumentHelp(
      "What every key begins with (default: the configuration's, or pushpool).",
      valueName: "prefix"))
  var prefix: String?

  /// The configuration, with these options before it.
  func settings() throws(CommandFailure) -> Configuration {
    let configuration = try Settings.load(
      file: config,
      overrides: [
        ("--redis", "PUSHPOOL_REDIS_URL", redis), ("--prefix", "PUSHPOOL_REDIS_PREFIX", prefix),
        ("--listen", "PUSHPOOL_SERVE_LISTEN", listen),
        ("--metrics", "PUSHPOOL_SERVE_METRICS_LISTEN", metrics),
      ])
    // A server sends to no push network: what apps name need not be here.
    if let problem = configuration.validateFilesExist(for: .server).first {
      throw CommandFailure(.configuration, problem.description)
    }
    return configuration
  }
}
