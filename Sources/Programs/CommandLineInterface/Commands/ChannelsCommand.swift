internal import ArgumentParser
internal import Operations

struct ChannelsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "channels",
    abstract: "List the channels of an app and how many users have a device in each.",
    discussion: """
        pushpool channels --app shop
        pushpool channels --app shop --json

      Channels that no device is in are not listed. A job to a channel goes only to the devices that are \
      in it.
      """)

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    try await SizeList(kind: .channel, nobody: "no device is in a channel of")
      .show(appOption, shared)
  }
}
