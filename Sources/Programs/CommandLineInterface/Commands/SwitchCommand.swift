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

      All workers heed it within a second, for queued and running work. What was to be sent \
      waits, burns no attempt and uninstalls nobody; past its expiry it is dropped as ever. When \
      it is on again the rest is sent within a few seconds, what was to go to a user within about \
      half a minute. \
      One campaign is stopped by pushpool job.
      """,
    subcommands: [SwitchOffCommand.self, SwitchOnCommand.self, SwitchListCommand.self],
    defaultSubcommand: SwitchListCommand.self)
}
