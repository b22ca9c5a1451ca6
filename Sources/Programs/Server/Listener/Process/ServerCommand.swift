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

  @OptionGroup var serving: ServingOptions
  @OptionGroup var place: ConfigurationOptions

  /// The configuration, with these options before it.
  func settings() throws(CommandFailure) -> Configuration {
    let configuration = try Settings.load(
      file: place.config, overrides: place.overrides + serving.overrides)
    // A server sends to no push network: what apps name need not be here.
    if let problem = configuration.validateFilesExist(for: .server).first {
      throw CommandFailure(.configuration, problem.description)
    }
    return configuration
  }
}
