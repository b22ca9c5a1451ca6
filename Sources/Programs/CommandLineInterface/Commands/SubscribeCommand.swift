internal import ArgumentParser
internal import Operations

struct SubscribeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe",
    abstract: "Subscribe users to topics.",
    discussion: """
        pushpool subscribe --app shop --topic news --user u1
        pushpool subscribe subscriptions.ndjson

      A file has one subscription a line: {"app": "shop", "topic": "news", "user": "u1"}. It stops \
      at the first bad line. Subscribing again is harmless. A job with "audience": {"topic": "news"} \
      goes to all devices of the users who subscribe.
      """)

  @OptionGroup var options: SubscriptionOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    try await SubscriptionRun(change: .subscribe, options: options, shared: shared).run()
  }
}
