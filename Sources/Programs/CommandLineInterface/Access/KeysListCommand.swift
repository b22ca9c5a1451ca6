internal import ArgumentParser
internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

struct KeysListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keys, the oldest first, without their secrets.",
    discussion: "  pushpool keys list\n  pushpool keys list --json | jq .id")

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .operator, onlyReads: true)
    let keys = try await session.atHome { fleet throws(RedisError) in
      try await KeyOffice(fleet: fleet).list()
    }
    await session.close()
    if shared.json {
      for key in keys { console.print(json: .object(key.json())) }
      return
    }
    guard !keys.isEmpty else {
      return console.note("there are no keys; make one with pushpool keys create")
    }
    var table = TextTable([
      .init("ID"), .init("ROLE"), .init("APP"), .init("SINCE"), .init("MADE BY"), .init("NAME"),
    ])
    for key in keys {
      table.append([
        key.id, key.role.rawValue, key.app ?? "",
        InstantText.local(ms: key.createdAtMs), key.createdBy,
        key.name,
      ])
    }
    for line in table.lines(on: console.output) { console.print(line) }
  }
}
