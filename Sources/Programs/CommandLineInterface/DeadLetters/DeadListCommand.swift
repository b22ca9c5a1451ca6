internal import ArgumentParser
internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

struct DeadListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List dead letters, the oldest first.",
    discussion: "  pushpool dead list --max 20\n  pushpool dead list --json | jq .reason")

  @Option(help: "How many.") var max = 100
  @Option(help: ArgumentHelp("Only those behind this one.", valueName: "entry")) var after: String?
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (1...CommandLineLimits.deadPage).contains(max) else {
      throw ValidationError("--max must be from 1 to \(CommandLineLimits.deadPage).")
    }
    if let after { try DeadEntry.check(after) }
  }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .dashboard)
    let max = max
    var start: ShardEntry?
    if let after { start = try session.entry(after) }
    let after = start
    let (letters, count) = try await session.look(on: console) { stores throws(RedisError) in
      let office = DeadLetterOffice(stores: stores)
      return (try await office.list(after: after, max: max), try await office.count())
    }
    await session.close()
    if shared.json {
      for letter in letters { console.print(json: letter.json()) }
      return
    }
    guard !letters.isEmpty else { return console.note("there are no dead letters") }
    var table = TextTable([
      .init("ENTRY"), .init("SINCE"), .init("KIND"), .init("APP"), .init("JOB"), .init("REASON"),
      .init("MESSAGE"),
    ])
    for letter in letters {
      table.append([
        letter.name.text,
        letter.atMs.map { InstantText.local(ms: $0) } ?? "",
        letter.kind, letter.app, letter.id, letter.reason,
        letter.field.isEmpty ? letter.message : "\(letter.field): \(letter.message)",
      ])
    }
    for line in table.lines(on: console.output) { console.print(line) }
    if count > letters.count {
      console.note(
        "\(FigureText.count(letters.count)) of \(FigureText.count(count)); more: "
          + "pushpool dead list --after \(letters.last?.name.text ?? "")")
    }
  }
}
