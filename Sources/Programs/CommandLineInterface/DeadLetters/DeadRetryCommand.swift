internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import Redis
internal import Store
internal import Typesetting

struct DeadRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Queue dead letters again.",
    discussion: """
      A refused job is queued as if it were new. For an admitted job the recipients that are still \
      open are queued.

        pushpool dead retry 1790000000000-0
        pushpool dead retry --all
      """)

  @OptionGroup var selection: DeadSelection
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard.with(.isIgnored)
    let session = try await shared.openSession(as: .operator)
    try await selection.confirm("retry", in: session, console: console)
    Interrupts.shared.expect()
    var retried = 0
    /// Entries of the jobs that were named, as they are queued again.
    var entries: [String] = []
    var left: [String] = []
    var done: [String] = []
    var failure: CommandFailure?
    do throws(CommandFailure) {
      try await selection.forEach(in: session) { letter throws(CommandFailure) in
        let entry = letter.text
        let answer = try await session.ask(in: .shard(letter.shard)) { stores throws(RedisError) in
          try await DeadLetterOffice(stores: stores).retry(letter)
        }
        switch answer {
        case .retried(let queued):
          retried += 1
          if done.count < CommandLineLimits.namedActsMax { done.append(entry) }
          guard let queued, !selection.all else { break }
          entries.append(queued.text)
          console.note("\(entry): its job is queued again as \(queued.text)")
        case .absent:
          left.append(entry)
          console.note("\(entry): is not there; it was retried or dropped")
        case .gone:
          left.append(entry)
          console.note(
            "\(entry): cannot be retried: its entry had no job, or its job or original is not kept any more; "
              + "pushpool dead show \(entry) tells which")
        case .ending:
          left.append(entry)
          console.note(
            "\(entry): its job is cancelled and still ends; retry it when nothing is pending")
        }
      }
    } catch {
      // What was done before stays done.
      failure = error
    }
    await session.note(
      selection.acts("dead.retry", done: done, count: retried), on: console)
    await session.close()
    if let failure { throw failure }
    if shared.json {
      console.print(
        json: .object([
          "retried": .integer(retried), "entries": .array(entries.map { .string($0) }),
          "left": .array(left.map { .string($0) }),
        ]))
    } else {
      console.print("\(FigureText.count(retried)) retried")
    }
    guard left.isEmpty else {
      throw CommandFailure(.badInput, "\(FigureText.count(left.count)) could not be retried")
    }
  }
}
