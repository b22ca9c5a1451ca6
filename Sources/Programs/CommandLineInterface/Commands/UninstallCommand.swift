internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store

struct UninstallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall",
    abstract: "Remove a device token's binding.",
    discussion: """
        pushpool uninstall --app shop --network apns --token 00ff… --user u1

      With --user only that user's binding goes: a late logout does not remove the next owner's. \
      Nothing is sent to the device afterwards, queued work included.
      """)

  @OptionGroup var appOption: AppOption
  @Option(help: "\(Network.alternatives).") var network: Network
  @Option(help: "The device token.") var token: String
  @Option(help: "Only if the token is this user's.") var user: String?
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    if let user { try UserOption.check(user) }
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let token: DeviceToken
    do throws(InvalidField) { token = try DeviceToken(self.token, network: network) } catch {
      throw CommandFailure(.badInput, "\(OptionName.of(error.pointer)) \(error.message)")
    }
    let session = try await RedisSession.open(configuration, as: .operator)
    let user = user
    let answer = try await session.ask(in: .app(app), about: [.token(app: app, token)]) {
      stores throws(RedisError) in
      try await InstallationOffice(stores: stores).uninstall(token, app: app, owner: user)
    }
    await session.close()
    if shared.json {
      return Console.standard.print(json: .object(["status": .string(answer.rawValue)]))
    }
    switch answer {
    case .removed: Console.standard.print("removed")
    case .absent: Console.standard.print("it was not installed")
    case .otherOwner, .stale:
      Console.standard.print("kept: the token belongs to another user now")
    }
  }
}
