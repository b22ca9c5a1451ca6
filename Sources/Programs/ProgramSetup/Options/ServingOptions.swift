package import ArgumentParser

/// The options that say where the server listens.
package struct ServingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where the API and the dashboard are (default: the configuration's, or 127.0.0.1:8080).",
      discussion: "With port 0 the system chooses a port, and the log names it.",
      valueName: "host:port"))
  package var listen: String?

  @Option(
    help: ArgumentHelp(
      "Where /metrics is, or off (default: the configuration's, or off).", valueName: "host:port"))
  package var metrics: String?

  package init() {}

  /// The variables to set in place of the file and the environment.
  package var overrides: [Settings.Override] {
    [
      ("--listen", "PUSHPOOL_SERVE_LISTEN", listen),
      ("--metrics", "PUSHPOOL_SERVE_METRICS_LISTEN", metrics),
    ]
  }
}
