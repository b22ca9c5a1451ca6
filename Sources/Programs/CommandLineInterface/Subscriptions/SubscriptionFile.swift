internal import Model
internal import Operations
internal import ProgramSetup
internal import Store
internal import Typesetting

/// Makes the changes that a file of subscriptions asks for.
struct SubscriptionFile {
  let input: ImportInput
  let change: SubscriptionOffice.Change
  let session: RedisSession
  let console: Console

  struct Tally {
    var lines = 0
    /// Lines that were news.
    var changed = 0
    var elapsedMs: Int64 = 0
  }

  /// Goes on until the end, the first bad line, or Ctrl-C; what stands before is done in each case. To do it again is harmless.
  func run() async throws(CommandFailure) -> Tally {
    let display = ProgressDisplay(
      label: change == .subscribe ? "subscribing" : "unsubscribing", total: nil, console: console)
    let reader = LineReader(
      descriptor: input.descriptor, name: input.name, lineBytesMax: Limits.installationBytesMax)
    var tally = Tally()
    var batch: [Subscription] = []
    do throws(CommandFailure) {
      var failure: CommandFailure?
      while failure == nil {
        do throws(CommandFailure) {
          guard let subscription = try next(reader) else { break }
          batch.append(subscription)
        } catch { failure = error }
        if batch.count == StoreLimits.subscriptionsMax {
          try await send(&batch, &tally)
          let sizeBytes = input.status.isRegular ? Int(input.status.sizeBytes) : nil
          display.update(
            done: sizeBytes == nil ? tally.lines : Int(reader.offset), count: tally.lines,
            total: sizeBytes)
        }
      }
      try await send(&batch, &tally)
      if let failure { throw failure }
    } catch {
      display.clear()
      throw CommandFailure(
        error.status, "\(error); \(FigureText.count(tally.lines)) before it are done")
    }
    display.clear()
    tally.elapsedMs = display.elapsedMs
    return tally
  }

  /// The next one; nil at the end of the file.
  private func next(_ reader: LineReader) throws(CommandFailure) -> Subscription? {
    while true {
      try Interrupts.shared.check()
      guard let line = try reader.next(Self.read) else { return nil }
      switch line {
      case .success(nil): continue
      case .success(let subscription?): return subscription
      case .failure(let field):
        let name = change == .subscribe ? "subscribe" : "unsubscribe"
        let advice = reader.shape.map {
          "; \($0.advice(name: input.name, to: .subscriptions(name)))"
        }
        throw CommandFailure(
          .badInput,
          "\(input.name):\(reader.lineNumber): \(DisplayText.printable(field.description))"
            + (advice ?? ""))
      }
    }
  }

  /// Reads what a line says; nil for a blank one.
  private static func read(_ line: LineReader.Line) -> Result<Subscription?, InvalidField> {
    do throws(InvalidField) {
      return .success(
        try line.document().map { (bytes) throws(InvalidField) in
          try Subscription(bytes: bytes)
        })
    } catch {
      return .failure(error)
    }
  }

  private func send(
    _ batch: inout [Subscription], _ tally: inout Tally
  ) async throws(CommandFailure) {
    guard !batch.isEmpty else { return }
    let (change, subscriptions) = (change, batch)
    // What was read is done also after Ctrl-C.
    for (shard, part) in session.placement.parts(of: subscriptions, by: \.app) {
      tally.changed += try await session.operate(in: .shard(shard)) {
        stores throws(OperationError) in
        try await SubscriptionOffice(store: stores[0], patience: .ofCommands { true })
          .make(change, part)
      }
    }
    tally.lines += batch.count
    batch = []
  }
}
