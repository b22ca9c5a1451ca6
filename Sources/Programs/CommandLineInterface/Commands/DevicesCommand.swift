internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct DevicesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List a user's installations, or tell what is known of a device token.",
    discussion: """
        pushpool devices --app shop --user u1
        pushpool devices --app shop --user u1 --json   # as import reads them
        pushpool devices --app shop --token 00ff…

      Of a token it tells who has it and since when. It also tells what became of it last: who \
      uninstalled it, who installed it in place of its former user, or that its network called it \
      dead. That is kept for three and a half to seven days. Accepted pushes are not kept: \
      see pushpool trace.
      """)

  @OptionGroup var appOption: AppOption
  @Option(help: "The user.") var user: String?
  @Option(help: "The device token.") var token: String?
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (user == nil) != (token == nil) else {
      throw ValidationError("Give one of --user and --token.")
    }
  }

  func run() async throws {
    if let token { return try await tell(of: token) }
    guard let user else { throw CommandFailure(.internalError, "neither a user nor a token") }
    try await list(user)
  }

  private func list(_ user: String) async throws(CommandFailure) {
    let console = Console.standard
    try UserOption.check(user)
    let configuration = try shared.configurationInTrouble()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(configuration, as: .reader)
    let isJSON = shared.json
    let (devices, departure) = try await session.ask(
      in: .app(app), about: [.user(app: app, user: user)]
    ) {
      stores throws(RedisError) in
      let lookup = InstallationLookup(stores: stores)
      return (
        try await lookup.devices(app: app, user: user),
        isJSON
          ? nil : try await lookup.departure(app: app, user: user, nowMs: InstantText.nowMs())
      )
    }
    await session.close()
    if shared.json {
      for device in devices { console.print(json: device.installation.json()) }
      return
    }
    if devices.isEmpty {
      console.note("user \(DisplayText.printable(user)) of \(app) has no installations")
    } else {
      for line in Self.table(devices).lines(on: console.output) { console.print(line) }
    }
    if let departure {
      console.note("the last that went, \(departure.token.shortened): \(departure.sentence)")
    }
  }

  private static func table(_ devices: [StoredInstallation]) -> TextTable {
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
          InstantText.local(ms: $0)
        } ?? "",
        installation.token.text,
      ])
    }
    return table
  }

  private func tell(of text: String) async throws(CommandFailure) {
    let console = Console.standard
    let tokens: [DeviceToken]
    do throws(InvalidField) { tokens = try DeviceToken.candidates(text) } catch {
      throw TokenOption.failure(error)
    }
    let configuration = try shared.configurationInTrouble()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(configuration, as: .reader)
    let standings = try await session.ask(in: .app(app), about: tokens.map { .token(app: app, $0) })
    {
      stores throws(RedisError) in
      try await InstallationLookup(stores: stores).standings(
        app: app, tokens: tokens, nowMs: InstantText.nowMs())
    }
    await session.close()
    if shared.json {
      for standing in standings { console.print(json: standing.json(app: app)) }
      return
    }
    guard !standings.isEmpty else {
      return console.note(
        "nobody of \(app) has this token, and nothing is known of it of the last days")
    }
    for standing in standings {
      for line in TokenReport(standing: standing).lines() { console.print(line) }
    }
  }
}
