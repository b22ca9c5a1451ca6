internal import ArgumentParser
internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store

struct SwitchOnCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "on",
    abstract: "Send again what was switched off.",
    discussion: """
        pushpool switch on --app shop
        pushpool switch on --app shop --network fcm

      Each thing is switched on as it was switched off. Switching on an app does not switch on its networks.
      """)

  @OptionGroup var scope: SwitchOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configurationInTrouble()
    let killSwitch = try scope.killSwitch(configuration)
    let session = try await RedisSession.open(configuration, as: .operator)
    let (wasOff, others) = try await session.ask(in: .app(killSwitch.app)) {
      stores throws(RedisError) in
      let board = Switchboard(stores: stores)
      let wasOff = try await board.switchOn(killSwitch)
      return (
        wasOff,
        try await board.read().entries.map(\.killSwitch)
          .filter { $0.app == killSwitch.app }
      )
    }
    if wasOff {
      await session.note(
        [Act("switch.on", app: killSwitch.app, subject: killSwitch.field)], on: console)
    }
    await session.close()
    if shared.json {
      return console.print(
        json: .object([
          "switch": .string(killSwitch.field), "status": .string(wasOff ? "on" : "already_on"),
        ]))
    }
    console.print("\(killSwitch.words) \(wasOff ? "is on again" : "was not off")")
    for other in others.prefix(CommandLineLimits.switchesNamedMax) {
      console.note("still off: \(other.words)")
    }
  }
}
