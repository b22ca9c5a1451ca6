internal import ArgumentParser
internal import Glibc
internal import Redis
internal import Store

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

  /// Asks the person at the terminal before all letters are dealt with; programs are not asked.
  func confirm(_ verb: String, count: Int, console: Console) throws(CommandFailure) {
    guard all, !yes, isatty(STDIN_FILENO) == 1, console.error.isInteractive else { return }
    console.writeError("\(verb) \(FigureText.count(count)) dead letters? [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    guard answer == "y" || answer == "yes" else {
      throw CommandFailure(.usage, "nothing was done")
    }
  }

  /// Calls the body with each letter: those named, or all that are there now.
  func forEach(
    in session: RedisSession, _ body: (String) async throws(CommandFailure) -> Void
  ) async throws(CommandFailure) {
    for entry in entries { try await body(entry) }
    guard all else { return }
    // Retried letters may come back as new ones: those are not for this run.
    let last = try await session.run { store throws(RedisError) in
      try await store.connection.call(
        RedisCommand("XREVRANGE", store.keys.dead, "+", "-", "COUNT", "1")
      ) { reply in reply.count > 0 && reply[0].count > 0 ? reply[0][0].string : nil }
    }
    var after: String?
    while let last {
      let start = after
      let page = try await session.run { store throws(RedisError) in
        try await store.deadLetters.list(after: start, max: CommandLineLimits.deadPage)
      }
      for letter in page {
        // By order and not by name: somebody else may have taken the last one away.
        guard !DeadEntry.isBehind(letter.entry, last) else { return }
        if Interrupts.shared.hasCome { throw CommandFailure(.interrupted, "interrupted") }
        try await body(letter.entry)
      }
      guard let end = page.last?.entry else { return }
      after = end
    }
  }
}
