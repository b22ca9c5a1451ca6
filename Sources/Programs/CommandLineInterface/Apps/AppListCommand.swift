internal import ArgumentParser
internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct AppListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the apps that stand in Redis, by name.",
    discussion: """
        pushpool app list
        pushpool app list --json | jq -r .id
        pushpool app list --limit 20 --after shop

      SEALED BY is the key of apps_in_redis.key_files that sealed the app's secrets. The apps of configuration files are not \
      among them.
      """)

  @Option(help: "How many.") var limit = 1_000
  @Option(help: ArgumentHelp("Only those behind this one.", valueName: "app")) var after: String?
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (1...ConfigurationLimits.redisAppsMax).contains(limit) else {
      throw ValidationError("--limit must be from 1 to \(ConfigurationLimits.redisAppsMax).")
    }
  }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .operator, onlyReads: true)
    let (after, limit) = (after, limit)
    let (apps, hasMore) = try await session.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).page(after: after, max: limit)
    }
    await session.close()
    if shared.json {
      console.print(jsonLines: apps.map { .object($0.json()) })
    } else if apps.isEmpty {
      console.note("there are no apps in Redis; add one with pushpool app add")
    } else {
      for line in Self.table(apps).lines(on: console.output) { console.print(line) }
    }
    if hasMore, let last = apps.last {
      console.note("there are more: pushpool app list --after \(last.id)")
    }
  }

  private static func table(_ apps: [AppOffice.Listed]) -> TextTable {
    var table = TextTable([
      .init("APP"), .init("NETWORKS"), .init("SINCE"), .init("BY"), .init("SEALED BY"),
      .init("FAULT"),
    ])
    for app in apps {
      switch app.record {
      case .success(let record):
        table.append([
          app.id, record.networks.joined(separator: " "),
          InstantText.local(ms: record.changedAtMs), record.changedBy,
          record.keyIDs.joined(separator: " "), "",
        ])
      case .failure(let fault): table.append([app.id, "", "", "", "", fault.description])
      }
    }
    return table
  }
}
