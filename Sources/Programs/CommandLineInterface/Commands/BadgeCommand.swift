internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct BadgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "badge",
    abstract: "Set the badge of a user's devices.",
    discussion: """
        pushpool badge 0 --app shop --user u1                             # all of the user's
        pushpool badge 3 --app shop --user u1 --network apns --token 00ff…

      The badge is what the next job with "badge": "+1" raises by one. Nothing is sent: the app \
      itself clears its icon. An app that was opened can also be installed again with --badge 0.
      """)

  @Argument(help: "The number from which the next job goes on.") var number: Int
  @OptionGroup var appOption: AppOption
  @Option(help: "Whose devices.") var user: String
  @Option(help: "Only this device: \(Network.alternatives).") var network: Network?
  @Option(help: "Only this device: its token.") var token: String?
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (0...Limits.badgeMax).contains(number) else {
      throw ValidationError("the badge must be a number from 0 to \(Limits.badgeMax)")
    }
    guard (network == nil) == (token == nil) else {
      throw ValidationError("--network and --token name one device together: give both or neither")
    }
  }

  func run() async throws {
    try UserOption.check(user)
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let only = try device()
    let session = try await RedisSession.open(configuration, as: .operator)
    let (user, number) = (user, number)
    let count = try await session.ask(in: .app(app), about: [.user(app: app, user: user)]) {
      stores throws(RedisError) in
      try await InstallationOffice(stores: stores)
        .setBadge(number, app: app, user: user, token: only)
    }
    await session.close()
    if shared.json { return Console.standard.print(json: .object(["devices": .integer(count)])) }
    guard count > 0 else {
      return Console.standard.note(
        "user \(DisplayText.printable(user)) of \(app) has no such installation: nothing was set")
    }
    Console.standard.print("the badge of \(count) device\(count == 1 ? "" : "s") is \(number) now")
  }

  private func device() throws(CommandFailure) -> DeviceToken? {
    guard let network, let token else { return nil }
    do throws(InvalidField) { return try DeviceToken(token, network: network) } catch {
      throw CommandFailure(.badInput, "\(OptionName.of(error.pointer)) \(error.message)")
    }
  }
}
