internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Store
internal import Typesetting

/// The work of `subscribe` and `unsubscribe`.
struct SubscriptionRun {
  let change: SubscriptionOffice.Change
  let options: SubscriptionOptions
  let shared: SharedOptions

  func run() async throws(CommandFailure) {
    let configuration = try shared.configuration()
    if let subscription = try options.subscription(configuration) {
      return try await run(subscription, configuration)
    }
    let input = try ImportInput(options.file ?? "-")
    let session = try await RedisSession.open(configuration, as: .operator)
    Interrupts.shared.expect()
    let tally = try await SubscriptionFile(
      input: input, change: change, session: session, console: .standard
    ).run()
    await session.close()
    let unchanged = tally.lines - tally.changed
    if shared.json {
      return Console.standard.print(
        json: .object([
          words.done: .integer(tally.changed), words.unchanged: .integer(unchanged),
          "elapsed_ms": .integer(tally.elapsedMs),
        ]))
    }
    Console.standard.print(
      "\(FigureText.count(tally.changed)) \(words.done) in "
        + "\(FigureText.duration(ms: tally.elapsedMs)), "
        + "\(FigureText.count(unchanged)) \(words.sentence)")
  }

  private func run(
    _ subscription: Subscription, _ configuration: Configuration
  ) async throws(CommandFailure) {
    let session = try await RedisSession.open(configuration, as: .operator)
    let change = change
    let changed = try await session.operate(
      in: .app(subscription.app), about: [.audiences(app: subscription.app)]
    ) {
      stores throws(OperationError) in
      try await SubscriptionOffice(store: stores[0], patience: .ofCommands())
        .make(change, [subscription])
    }
    await session.close()
    AppOption.warn(of: subscription.app, unlessIn: configuration, on: .standard)
    if shared.json {
      let status = changed > 0 ? words.done : words.unchanged
      return Console.standard.print(json: .object(["status": .string(status)]))
    }
    Console.standard.print(changed > 0 ? words.done : words.sentence)
  }

  /// The words for the outcome, as the functions for registration answer, and for people.
  private var words: (done: String, unchanged: String, sentence: String) {
    switch change {
    case .subscribe: ("subscribed", "unchanged", "subscribed already")
    case .unsubscribe: ("unsubscribed", "absent", "not subscribed")
    }
  }
}
