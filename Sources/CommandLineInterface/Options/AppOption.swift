internal import ArgumentParser
internal import Configuration
internal import Model

/// Which app a command is about.
struct AppOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The app (default: the only one of the configuration).", valueName: "app"))
  var app: String?

  func resolve(_ configuration: Configuration) throws(CommandFailure) -> String {
    if let app {
      do throws(InvalidField) { try TextRule.checkApp(app) } catch {
        throw CommandFailure(.usage, "--app \(error.message)")
      }
      return app
    }
    switch configuration.apps.count {
    case 1: return configuration.apps[0].id
    case 0: throw CommandFailure(.usage, "--app is missing: name the app")
    default:
      let names = configuration.apps.map(\.id).joined(separator: ", ")
      throw CommandFailure(.usage, "--app is missing: name one of \(names)")
    }
  }
}
