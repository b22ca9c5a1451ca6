internal import ArgumentParser
internal import Glibc
internal import Operations
internal import ProgramSetup
internal import Redis
internal import Store
internal import Typesetting

/// Which dead letters a command is for.
struct DeadSelection: ParsableArguments {
  @Argument(help: "Entries, as dead list names them.") var entries: [String] = []
  @Flag(help: "All of them.") var all = false
  @Flag(name: .shortAndLong, help: "Do not ask before doing it to all.") var yes = false

  func validate() throws {
    guard entries.isEmpty == all else {
      throw ValidationError(
        all ? "Give entries or --all, not both." : "Name dead letters, or give --all.")
    }
    for entry in entries { try DeadEntry.check(entry) }
  }

  /// Asks as below, about as many letters as there are.
  func confirm(
    _ verb: String, in session: RedisSession, console: Console
  ) async throws(CommandFailure) {
    guard all else { return }
    let count = try await session.ask(in: .all) { stores throws(RedisError) in
      try await DeadLetterOffice(stores: stores).count()
    }
    try confirm(verb, count: count, console: console)
  }

  /// Asks the person at the terminal before all letters are dealt with, however plain that terminal is; programs are not
  /// asked.
  func confirm(_ verb: String, count: Int, console: Console) throws(CommandFailure) {
    guard all, !yes, count > 0, isatty(STDIN_FILENO) == 1 else { return }
    let letters = "\(FigureText.count(count)) dead \(count == 1 ? "letter" : "letters")"
    guard isatty(STDERR_FILENO) == 1 else {
      throw CommandFailure(
        .usage,
        "nothing was done: you cannot be asked whether to \(verb) \(letters), since standard error is no terminal; "
          + "give --yes")
    }
    console.writeError("\(verb) \(letters)? [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    guard answer == "y" || answer == "yes" else {
      throw CommandFailure(.interrupted, "nothing was done")
    }
  }

  /// The acts for the list of acts: one for each letter that was named, or one for all.
  /// - Parameters:
  ///   - verb: such as `dead.retry`.
  ///   - done: the letters that it was done to; of `--all` some of them.
  ///   - count: how many these are.
  func acts(_ verb: String, done: [String], count: Int) -> [Act] {
    guard count > 0 else { return [] }
    guard all || count > CommandLineLimits.namedActsMax else {
      return done.map { Act(verb, subject: $0) }
    }
    return [Act(verb, detail: "\(FigureText.count(count)) letters")]
  }

  /// Calls the body with each letter: those named, or all that are there now.
  /// - Throws: before the first of them when one that is named cannot be meant.
  func forEach(
    in session: RedisSession, _ body: (ShardEntry) async throws(CommandFailure) -> Void
  ) async throws(CommandFailure) {
    var named: [ShardEntry] = []
    for entry in entries { named.append(try session.entry(entry)) }
    for letter in named { try await body(letter) }
    guard all else { return }
    var scan = try await session.ask(in: .all) { stores throws(RedisError) in
      try await DeadLetterScan.begin(in: stores)
    }
    while true {
      let start = scan
      let (letters, rest) = try await session.ask(in: .all) { stores throws(RedisError) in
        var scan = start
        let letters = try await scan.next(in: stores)
        return (letters, scan)
      }
      guard !letters.isEmpty else { return }
      scan = rest
      for letter in letters {
        if Interrupts.shared.hasCome { throw CommandFailure(.interrupted, "interrupted") }
        try await body(letter)
      }
    }
  }
}

/// The name of a dead letter: a stream entry, `<ms>-<n>`, with its shard in front where the fleet has several.
enum DeadEntry {
  static func check(_ text: String) throws {
    guard ShardEntry.isOne(text) else {
      throw ValidationError(
        "\"\(DisplayText.printable(text))\" is no dead letter: they are named like "
          + "1790000000000-0, see pushpool dead list.")
    }
  }
}
