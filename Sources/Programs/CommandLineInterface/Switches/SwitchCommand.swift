internal import ArgumentParser

struct SwitchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "switch",
    abstract: "Stop and start sending: of an app, a network, bucket or topic of it, or to a user.",
    discussion: """
        pushpool switch off --app shop --reason "wrong text in the sale"
        pushpool switch off --app shop --network fcm
        pushpool switch off --app shop --user u1
        pushpool switch off --app shop --bucket orders
        pushpool switch off --app shop --topic news
        pushpool switch list
        pushpool switch on --app shop

      All workers stop within a second, for queued and running work. Pushes that are switched off wait. \
      They use up no attempt, they expire as usual, and no device is uninstalled. When they are \
      switched on again, they are sent within a few seconds. Pushes to a user follow within about \
      half a minute. To stop one campaign, use pushpool job.
      """,
    subcommands: [SwitchOffCommand.self, SwitchOnCommand.self, SwitchListCommand.self],
    defaultSubcommand: SwitchListCommand.self)
}
