internal import ArgumentParser
internal import Glibc
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store

struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Watch rates, backlog, workers, alarms and jobs live.",
    discussion: """
        pushpool top
        pushpool top --interval 5
        pushpool top | head -20

      Keys: q quits, p holds the display still, s sorts by name or the busiest first, j and k or the arrows \
      scroll. Rates are of the time between two looks, and at the first look of the last minute.

      Where there is no terminal it looks once, prints that and ends.
      """)

  @Option(help: ArgumentHelp("Seconds between two looks.", valueName: "seconds"))
  var interval = 1

  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (1...CommandLineLimits.topIntervalSecondsMax).contains(interval) else {
      throw ValidationError(
        "--interval must be from 1 to \(CommandLineLimits.topIntervalSecondsMax) seconds")
    }
    guard shared.json else { return }
    throw ValidationError("top is for people: leave out --json, or use pushpool status --json")
  }

  func run() async throws {
    let configuration = try shared.configurationInTrouble()
    let session = try await RedisSession.open(configuration, as: .dashboard)
    let state = TopState(place: configuration.shards.place)
    guard Console.standard.output.isInteractive else {
      var state = state
      state.take(try await Self.look(session))
      await session.close()
      let console = Console.standard
      let screen = TopScreen(state, on: console.output, columns: Terminal.columnsMax)
      for line in screen.wholeLines() { console.print(line) }
      return
    }
    var loop = TopLoop(state: state, intervalMs: Int64(interval) * 1_000)
    try await loop.run {
      () async throws(CommandFailure) in try await Self.look(session)
    }
    await session.close()
  }

  private static func look(_ session: RedisSession) async throws(CommandFailure) -> TopLook {
    var (look, absences) = try await session.look { stores throws(RedisError) in
      try await TopLook.read(stores)
    }
    look.note(absences)
    return look
  }
}
