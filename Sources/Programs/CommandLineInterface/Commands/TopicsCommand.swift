internal import ArgumentParser
internal import Store

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
    let list = SizeList(word: "topic", nobody: "nobody subscribes to a topic of") { $0.topic }
    try await list.show(appOption, shared)
  }
}
