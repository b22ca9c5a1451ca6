internal import ArgumentParser
internal import Configuration
internal import Model

/// What is to be switched.
struct SwitchOptions: ParsableArguments {
  @OptionGroup var appOption: AppOption
  @Option(help: "Only this network of the app: apns, fcm or jpush.") var network: Network?
  @Option(help: "Only this user of the app.") var user: String?

  func validate() throws {
    guard network == nil || user == nil else {
      throw ValidationError("--network and --user exclude each other: give one of them.")
    }
  }

  func killSwitch(_ configuration: Configuration) throws(CommandFailure) -> KillSwitch {
    let app = try appOption.resolve(configuration)
    if let network { return .network(app: app, network) }
    guard let user else { return .app(app) }
    try UserOption.check(user)
    return .user(app: app, user)
  }
}
