package import ArgumentParser

/// The options that say where the configuration and Redis are.
package struct ConfigurationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The configuration file (default: $PUSHPOOL_CONFIG, or ./pushpool.yaml if there is one).",
      valueName: "file"))
  package var config: String?

  @Option(
    help: ArgumentHelp(
      "Where Redis is: redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// (default: "
        + "the configuration's, $PUSHPOOL_REDIS_URL, or redis://127.0.0.1:6379/0).",
      valueName: "url"))
  package var redis: String?

  @Option(
    help: ArgumentHelp(
      "What every key begins with (default: the configuration's, or pushpool).",
      valueName: "prefix"))
  package var prefix: String?

  package init() {}

  /// The variables to set in place of the file and the environment; the command line goes before both.
  package var overrides: [Settings.Override] {
    [("--redis", "PUSHPOOL_REDIS_URL", redis), ("--prefix", "PUSHPOOL_REDIS_PREFIX", prefix)]
  }
}
