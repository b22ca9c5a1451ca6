internal import ArgumentParser
internal import Configuration
internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

struct DevicesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List a user's installations.",
    discussion: """
        pushpool devices --app shop --user u1
        pushpool devices --app shop --user u1 --json   # as import reads them
      """)

  @OptionGroup var appOption: AppOption
  @Option(help: "The user.") var user: String
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    try UserOption.check(user)
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(configuration.redis, as: .reader)
    let user = user
    let devices = try await session.run(about: [.user(app: app, user: user)]) {
      store throws(RedisError) in
      try await InstallationLookup(stores: [store]).devices(app: app, user: user)
    }
    await session.close()
    if shared.json {
      for device in devices { console.print(json: device.installation.json()) }
      return
    }
    guard !devices.isEmpty else {
      return console.note("user \(DisplayText.printable(user)) of \(app) has no installations")
    }
    var table = TextTable([
      .init("NETWORK"), .init("ENVIRONMENT"), .init("KIND"), .init("DEVICE"), .init("APP"),
      .init("UPDATED"),
      .init("TOKEN"),
    ])
    for installation in devices.map(\.installation) {
      table.append([
        installation.token.network.rawValue, installation.environment.rawValue,
        installation.kind.rawValue, installation.device.type ?? "",
        installation.device.appVersion ?? "",
        installation.updatedAtMs.map {
          InstantText.rfc3339(ms: $0, withMilliseconds: false)
        } ?? "",
        installation.token.text,
      ])
    }
    for line in table.lines(on: console.output) { console.print(line) }
  }
}
