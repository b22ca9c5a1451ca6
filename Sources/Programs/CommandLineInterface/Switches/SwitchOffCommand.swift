internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store

struct SwitchOffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "off",
    abstract: "Stop sending, on all workers within a second.",
    discussion: """
        pushpool switch off --app shop --reason "wrong text in the sale"
        pushpool switch off --app shop --network fcm
        pushpool switch off --app shop --bucket orders --reason "a loop"

      What is off already stays as it is. What is in flight is finished.
      """)

  @OptionGroup var scope: SwitchOptions
  @Option(help: "Why, for those who find it off.") var reason = ""
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard reason.utf8.count <= StoreLimits.switchReasonBytesMax else {
      throw ValidationError("--reason must be at most \(StoreLimits.switchReasonBytesMax) bytes.")
    }
  }

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configurationInTrouble()
    let killSwitch = try scope.killSwitch(configuration)
    let session = try await RedisSession.open(configuration, as: .operator)
    let reason = reason
    let answer = try await session.ask(in: .app(killSwitch.app)) { stores throws(RedisError) in
      try await Switchboard(stores: stores).switchOff(killSwitch, reason: reason)
    }
    if case .off = answer {
      await session.note(
        [Act("switch.off", app: killSwitch.app, subject: killSwitch.field, detail: reason)],
        on: console)
    }
    await session.close()
    switch answer {
    case .off(let remark): show(killSwitch, remark, "off", "is off now", on: console)
    case .already(let remark): show(killSwitch, remark, "already_off", "was off", on: console)
    case .full:
      throw CommandFailure(
        .badInput,
        "\(killSwitch.words) stays on: \(StoreLimits.switchesMax) are off already, and more are not "
          + "honoured; switch some on (pushpool switch list), or a whole app off")
    }
    AppOption.warn(of: killSwitch.app, unlessIn: configuration, on: console)
  }

  private func show(
    _ killSwitch: KillSwitch, _ remark: SwitchRemark, _ status: String, _ words: String,
    on console: Console
  ) {
    guard !shared.json else {
      var object = killSwitch.json(remark)
      object["status"] = .string(status)
      return console.print(json: .object(object))
    }
    let since = status == "off" ? "" : killSwitch.since(remark)
    console.print("\(killSwitch.words) \(words)\(since)")
  }
}
