internal import ArgumentParser
internal import Model
internal import ProgramSetup
internal import PushpoolConfiguration

/// Whose subscription to what, or the file that names many.
struct SubscriptionOptions: ParsableArguments {
  @Argument(help: "A file of subscriptions, one a line as JSON; - for standard input.")
  var file: String?
  @OptionGroup var appOption: AppOption
  @Option(help: "The topic: 1 to 64 letters, digits, _ or -.") var topic: String?
  @Option(help: "The user, with or without devices.") var user: String?

  func validate() throws {
    if file == nil {
      guard topic != nil, user != nil else {
        throw ValidationError("Name the --topic and the --user, or a file of subscriptions.")
      }
    } else if topic != nil || user != nil || appOption.app != nil {
      throw ValidationError("Give a file, or --app, --topic and --user.")
    }
  }

  /// The one that the options name; nil when a file does.
  func subscription(_ configuration: Configuration) throws(CommandFailure) -> Subscription? {
    guard let topic, let user else { return nil }
    do throws(InvalidField) { try TextRule.checkTopic(topic) } catch {
      throw CommandFailure(.usage, "--topic \(error.message)")
    }
    try UserOption.check(user)
    return Subscription(app: try appOption.resolve(configuration), topic: topic, user: user)
  }
}
