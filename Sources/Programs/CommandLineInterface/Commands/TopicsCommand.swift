internal import ArgumentParser
internal import Operations

struct TopicsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics",
    abstract: "List the topics of an app and how many users subscribe to each.",
    discussion: """
        pushpool topics --app shop
        pushpool topics --app shop --json

      Topics that nobody subscribes to are not listed.
      """)

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    try await SizeList(kind: .topic, nobody: "nobody subscribes to a topic of")
      .show(appOption, shared)
  }
}
