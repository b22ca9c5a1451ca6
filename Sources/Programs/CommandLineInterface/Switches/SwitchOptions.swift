internal import ArgumentParser
internal import Model
internal import ProgramSetup
internal import PushpoolConfiguration

/// The options that say what is to be switched.
struct SwitchOptions: ParsableArguments {
  @OptionGroup var appOption: AppOption
  @Option(help: "Only this network of the app: \(Network.alternatives).") var network: Network?
  @Option(help: "Only this user of the app.") var user: String?
  @Option(help: "Only push-to-app events of this bucket of the app.") var bucket: String?
  @Option(help: "Only jobs to this topic of the app.") var topic: String?

  func validate() throws {
    let given = [network != nil, user != nil, bucket != nil, topic != nil]
    guard given.count(where: { $0 }) <= 1 else {
      throw ValidationError(
        "--network, --user, --bucket and --topic exclude each other: give one of them.")
    }
  }

  func killSwitch(_ configuration: Configuration) throws(CommandFailure) -> KillSwitch {
    let app = try appOption.resolve(configuration)
    if let network { return .network(app: app, network) }
    if let bucket {
      do throws(InvalidField) {
        try TextRule.check(bucket, bytesMax: Limits.eventTextBytesMax)
      } catch { throw CommandFailure(.usage, "--bucket \(error.message)") }
      return .bucket(app: app, bucket)
    }
    if let topic {
      do throws(InvalidField) { try TextRule.checkTopic(topic) } catch {
        throw CommandFailure(.usage, "--topic \(error.message)")
      }
      return .topic(app: app, topic)
    }
    guard let user else { return .app(app) }
    try UserOption.check(user)
    return .user(app: app, user)
  }
}
