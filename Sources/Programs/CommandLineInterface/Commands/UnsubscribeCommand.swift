internal import ArgumentParser
internal import Operations

struct UnsubscribeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unsubscribe",
    abstract: "End users' subscriptions to topics.",
    discussion: """
        pushpool unsubscribe --app shop --topic news --user u1
        pushpool unsubscribe subscriptions.ndjson

      The file has the same form as for subscribe. A user stays subscribed when the last device is \
      uninstalled: unsubscribe users who close their account.
      """)

  @OptionGroup var options: SubscriptionOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    try await SubscriptionRun(change: .unsubscribe, options: options, shared: shared).run()
  }
}
