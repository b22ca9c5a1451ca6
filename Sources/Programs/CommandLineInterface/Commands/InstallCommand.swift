internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct InstallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Bind a device token to a user.",
    discussion: """
        pushpool install --app shop --user u1 --network apns --token 00ff…

      Repeating it is harmless. A token that belongs to another user moves to this user. From then \
      on only this user receives on that device. With --strict such a token is refused. A user has at \
      most \(Limits.installationsPerUserMax) devices: one more removes the one that was installed or \
      renewed the longest ago.
      """)

  @OptionGroup var appOption: AppOption
  @Option(help: "Whose device it is.") var user: String
  @Option(help: "\(Network.alternatives).") var network: Network
  @Option(help: "The device token as the app got it.") var token: String
  @Option(help: "production or development.") var environment: PushEnvironment = .production
  @Option(help: "What an APNs token is for, such as voip or liveactivity (default: alert).")
  var kind: TokenKind?
  @Option(help: "A stable id for the installation (default: made here).") var objectID: String?
  @Option(help: "Such as phone or tablet.") var deviceType: String?
  @Option(help: "The app's name.") var appName: String?
  @Option(help: "The app's version.") var appVersion: String?
  @Option(help: "The system's version.") var osVersion: String?
  @Option(help: "The push library's version.") var sdkVersion: String?
  @Option(help: "Such as Europe/Berlin.") var timeZone: String?
  @Option(help: "Such as de or zh-Hant.") var language: String?
  @Option(help: "What the app's icon shows, such as 0 when the app was opened.") var badge: Int?
  @Option(name: .customLong("channel"), help: "A channel; may be repeated.")
  var channels: [String] = []
  @Flag(help: "Leave all channels.") var noChannels = false
  @Flag(help: "Refuse a token that is bound already.") var strict = false
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard channels.isEmpty || !noChannels else {
      throw ValidationError("--channel and --no-channels exclude each other: give one of them.")
    }
  }

  func run() async throws {
    let configuration = try shared.configuration()
    let installation = try installation(app: appOption.resolve(configuration))
    let session = try await RedisSession.open(configuration, as: .operator)
    await session.warnOfRisks(in: .app(installation.app), on: .standard)
    let isStrict = strict
    let result = try await session.run(
      in: .app(installation.app),
      about: [
        .token(app: installation.app, installation.token),
        .user(app: installation.app, user: installation.user),
      ]
    ) { store throws(RedisError) in
      try await InstallationOffice.install(installation, strict: isStrict, in: store)
    }
    await session.close()
    AppOption.warn(of: installation.app, unlessIn: configuration, on: .standard)
    try report(result)
  }

  /// Checked by the same rules as a line of an import.
  private func installation(app: String) throws(CommandFailure) -> Installation {
    var object: JSONObject = [
      "app": .string(app), "user": .string(user), "network": .string(network.rawValue),
      "token": .string(token), "environment": .string(environment.rawValue),
    ]
    let optional = [
      ("kind", kind?.rawValue), ("object_id", objectID), ("device_type", deviceType),
      ("app_name", appName),
      ("app_version", appVersion), ("os_version", osVersion), ("sdk_version", sdkVersion),
      ("time_zone", timeZone), ("language", language),
    ]
    for (name, value) in optional { object[name] = value.map { .string($0) } }
    object["badge"] = badge.map { .integer($0) }
    if !channels.isEmpty || noChannels {
      object["channels"] = .array(channels.map { .string($0) })
    }
    do throws(InvalidField) { return try Installation(json: .object(object)) } catch {
      throw CommandFailure(.badInput, "\(OptionName.of(error.pointer)) \(error.message)")
    }
  }

  private func report(_ result: InstallResult) throws(CommandFailure) {
    if shared.json {
      Console.standard.print(json: result.json())
    }
    if result.evicted > 0 {
      Console.standard.note(
        "an older device of the user was removed: a user has at most "
          + "\(Limits.installationsPerUserMax)")
    }
    let previous = DisplayText.printable(result.previousUser)
    switch result.status {
    case .conflict:
      throw CommandFailure(
        .badInput,
        "the token is bound to user \(previous) already, as installation \(result.objectID)")
    case .moved where !shared.json:
      Console.standard.print("moved from user \(previous) (installation \(result.objectID))")
    case .created where !shared.json, .updated where !shared.json:
      Console.standard.print("\(result.status.rawValue) (installation \(result.objectID))")
    case .created, .updated, .moved: break
    }
  }
}
