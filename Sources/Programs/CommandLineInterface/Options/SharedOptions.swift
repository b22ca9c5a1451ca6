internal import ArgumentParser
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Store

/// The options that every command has.
struct SharedOptions: ParsableArguments {
  @OptionGroup var place: ConfigurationOptions

  @Flag(help: "Print the result as JSON, for programs.")
  var json = false

  /// Loads as `load` does, with a remark on standard error for each secret that everybody on the machine may read.
  func configuration() throws(CommandFailure) -> Configuration {
    let configuration = try load()
    for sentence in configuration.secretsReadableByAll() {
      Console.standard.note("warning: \(sentence)")
    }
    return configuration
  }

  /// The configuration, for commands by which people look at the fleet and act in it. A file that has errors, as workers may
  /// have refused it a minute ago, stops none of these: they go by what it says of Redis, and tell the first error.
  func configurationInTrouble() throws(CommandFailure) -> Configuration {
    do throws(CommandFailure) { return try configuration() } catch {
      guard error.status == .configuration, let file = try file() else { throw error }
      let reading = Configuration.examine(file: file, environment: environment([]))
      let isOfRedis = reading.errors.contains {
        $0.file != file || $0.field.isEmpty || $0.field == "redis" || $0.field.hasPrefix("redis.")
      }
      guard let usable = reading.configuration, reading.omitted == 0, !isOfRedis,
        usable.shards.all.count == 1 || !reading.errors.contains(where: Self.mayBeOfPlacement)
      else { throw error }
      Console.standard.note(
        "warning: \(error.description); this command goes on with what the file says of Redis")
      return usable
    }
  }

  /// Whether an app may be taken to live in another shard than the file means: with an error in the list or of an app itself.
  private static func mayBeOfPlacement(_ error: ConfigurationError) -> Bool {
    error.field.hasPrefix("apps") && error.field.count { $0 == "." } <= 1
  }

  /// The configuration: of the file if there is one, else the defaults and the environment.
  func load(
    _ more: [Settings.Override] = []
  ) throws(CommandFailure) -> Configuration {
    try Settings.load(file: place.config, overrides: place.overrides + more)
  }

  /// The configuration as `read` reads it.
  func load(
    _ more: [Settings.Override], by read: () throws(ConfigurationError) -> Configuration
  ) throws(CommandFailure) -> Configuration {
    try Settings.load(overrides: place.overrides + more, by: read)
  }

  /// The configuration file; nil when there is none.
  func file() throws(CommandFailure) -> String? { try Settings.file(place.config) }

  /// The variables that go before the file, with the options among them.
  func environment(_ more: [Settings.Override]) -> [String: String] {
    Settings.environment(place.overrides + more)
  }

  /// Looks for all that is wrong with the configuration, where `load` stops at the first.
  /// - Parameter reader: the one whose files are looked into.
  func check(for reader: Configuration.Reader) throws(CommandFailure) -> ConfigurationCheck {
    ConfigurationCheck(file: try file(), environment: environment([]), for: reader)
  }

  /// A session with Redis for this command.
  /// - Parameters:
  ///   - user: as of `RedisSession.open`.
  ///   - onlyReads: as of `StoreSession.open`.
  func openSession(
    as user: DocumentedUser, onlyReads: Bool = false
  ) async throws(CommandFailure) -> RedisSession {
    try await RedisSession.open(configurationInTrouble(), as: user, onlyReads: onlyReads)
  }
}
