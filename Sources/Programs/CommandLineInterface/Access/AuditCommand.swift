internal import ArgumentParser
internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "List what operators did, the newest first.",
    discussion: """
        pushpool audit
        pushpool audit --app shop --verb job.cancel
        pushpool audit --verb key --limit 20 --json | jq .who

      Acts of the command line, the HTTP API and the dashboard: who did what, when and from where. \
      The last 100,000 are kept. A verb is a noun and what was done to it, such as job.pause, \
      dead.retry, switch.off or key.create; the noun alone stands for all of them.
      """)

  @Option(help: "Only acts about this app.") var app: String?
  @Option(help: "Only acts of this verb, or of this noun.") var verb: String?
  @Option(help: "How many.") var limit = 50
  @Option(help: ArgumentHelp("Only those older than this one.", valueName: "entry"))
  var before: String?
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (1...StoreLimits.actPageMax).contains(limit) else {
      throw ValidationError("--limit must be from 1 to \(StoreLimits.actPageMax).")
    }
    if let app {
      do throws(InvalidField) { try TextRule.checkApp(app) } catch {
        throw ValidationError("--app \(error.message)")
      }
    }
    if let before, EntryID(before) == nil {
      throw ValidationError("--before must be an entry, such as 1790000000000-0.")
    }
  }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .dashboard)
    let (app, verb, limit, before) = (app, verb, limit, before)
    let page = try await session.atHome { fleet throws(RedisError) in
      try await ActJournal(fleet: fleet).page(
        app: app, verb: verb, before: before, max: limit)
    }
    await session.close()
    if shared.json {
      console.print(jsonLines: page.entries.map { .object($0.json()) })
    } else if page.entries.isEmpty {
      console.note("no such act is kept")
    } else {
      for line in Self.table(page).lines(on: console.output) { console.print(line) }
    }
    if let next = page.next {
      console.note("there are older ones: pushpool audit --before \(next)")
    }
  }

  private static func table(_ page: ActJournal.Page) -> TextTable {
    var table = TextTable([
      .init("AT"), .init("WHO"), .init("FROM"), .init("ACT"), .init("APP"), .init("SUBJECT"),
      .init("DETAIL"),
    ])
    for entry in page.entries {
      table.append([
        InstantText.local(ms: entry.atMs), entry.doer, entry.from,
        entry.act.verb, entry.act.app, entry.act.subject, entry.act.detail,
      ])
    }
    return table
  }
}

extension ActEntry {
  /// Who did it, with the key's name where it had one.
  fileprivate var doer: String { whoName.isEmpty ? who : "\(who) (\(whoName))" }
}
