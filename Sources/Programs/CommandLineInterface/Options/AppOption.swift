internal import ArgumentParser
internal import Model
internal import ProgramSetup
internal import PushpoolConfiguration

/// Which app a command is about.
struct AppOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The app (default: the only one of the configuration).", valueName: "app"))
  var app: String?

  /// Says so when the configuration has apps and this is none of them; whoever produces need not have it.
  static func warn(of app: String, unlessIn configuration: Configuration, on console: Console) {
    if !configuration.apps.isEmpty, configuration.appsInRedis == nil, configuration.app(app) == nil
    {
      console.note("the configuration has no app \(app): is that its name?")
    }
  }

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
