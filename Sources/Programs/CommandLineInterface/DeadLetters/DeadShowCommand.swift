internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import Redis
internal import Store
internal import Typesetting

struct DeadShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a dead letter with its original.",
    discussion: "  pushpool dead show 1790000000000-0")

  @Argument(help: "The entry, as dead list names it.") var entry: String
  @OptionGroup var shared: SharedOptions

  func validate() throws { try DeadEntry.check(entry) }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .dashboard)
    let name = try session.entry(entry)
    let found = try await session.ask(in: .shard(name.shard)) { stores throws(RedisError) in
      try await DeadLetterOffice(stores: stores).show(name)
    }
    await session.close()
    guard let letter = found else {
      throw CommandFailure(
        .badInput, "there is no dead letter \(name.text): it was retried or dropped")
    }
    if shared.json { return console.print(json: letter.json()) }
    var table = TextTable([.init(""), .init("")])
    table.append(["entry", letter.name.text])
    if let atMs = letter.atMs {
      table.append(["since", InstantText.local(ms: atMs, withMilliseconds: true)])
    }
    for name in [
      "kind", "app", "id", "job_entry", "priority", "reason", "field", "message", "count",
    ] {
      if let value = letter.fields[name], !value.isEmpty { table.append([name, value]) }
    }
    for line in table.lines(on: console.output) { console.print(line) }
    guard let original = letter.original else { return }
    console.print()
    // Indented, so that nothing of it looks like the lines above.
    for line in original.split(whereSeparator: \.isNewline) { console.print("  " + line) }
    if letter.isTruncated { console.note("only its beginning was kept") }
  }
}
