internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import Redis
internal import Store
internal import Typesetting

struct DeadDropCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Remove dead letters for good.",
    discussion: "  pushpool dead drop 1790000000000-0\n  pushpool dead drop --all")

  @OptionGroup var selection: DeadSelection
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .operator)
    try await selection.confirm("drop", in: session, console: console)
    Interrupts.shared.expect()
    var dropped = 0
    var missing = 0
    var done: [String] = []
    var failure: CommandFailure?
    do throws(CommandFailure) {
      try await selection.forEach(in: session) { letter throws(CommandFailure) in
        let wasThere = try await session.ask(in: .shard(letter.shard)) {
          stores throws(RedisError) in
          try await DeadLetterOffice(stores: stores).drop(letter)
        }
        if wasThere {
          dropped += 1
          if done.count < CommandLineLimits.namedActsMax { done.append(letter.text) }
        } else {
          missing += 1
          console.note("\(letter.text): is not there")
        }
      }
    } catch {
      // What was done before stays done.
      failure = error
    }
    await session.note(
      selection.acts("dead.drop", done: done, count: dropped), on: console)
    await session.close()
    if let failure { throw failure }
    if shared.json {
      console.print(json: .object(["dropped": .integer(dropped)]))
    } else {
      console.print("\(FigureText.count(dropped)) dropped")
    }
    // What another command has dropped meanwhile was not named.
    guard missing == 0 || selection.all else {
      throw CommandFailure(.badInput, "\(FigureText.count(missing)) could not be dropped")
    }
  }
}
