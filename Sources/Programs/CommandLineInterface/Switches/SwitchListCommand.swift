internal import ArgumentParser
internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

struct SwitchListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what is switched off.",
    discussion: "  pushpool switch list\n  pushpool switch list --json | jq .switch")

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .dashboard)
    let reading = try await session.look(on: console) { stores throws(RedisError) in
      try await Switchboard(stores: stores).read()
    }
    await session.close()
    let entries = reading.sorted
    if shared.json {
      for entry in entries {
        console.print(json: .object(entry.killSwitch.json(entry.remark)))
      }
    } else if entries.isEmpty {
      console.note("nothing is switched off")
    } else {
      for line in reading.table().lines(on: console.output) { console.print(line) }
    }
    for field in reading.unknown.prefix(CommandLineLimits.switchesNamedMax) {
      console.note("a field that says nothing to this version: \(DisplayText.printable(field))")
    }
    if reading.isOverfull {
      console.note(
        "\(FigureText.count(reading.count)) are off and only "
          + "\(FigureText.count(StoreLimits.switchesMax)) are honoured: switch some on")
    }
  }
}
