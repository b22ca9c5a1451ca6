internal import ArgumentParser
internal import Configuration
internal import Model
internal import Operations
internal import Redis

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show workers, backlog, dead letters and the last minute's outcomes.",
    discussion: "  pushpool status\n  watch -n 2 pushpool status\n  pushpool status --json")

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let session = try await RedisSession.open(configuration.redis, functions: false)
    let snapshot = try await session.run { store throws(RedisError) in
      try await FleetSnapshot.read([store])
    }
    await session.close()
    if shared.json { return console.print(json: snapshot.json()) }
    let place = "Redis \(configuration.redis.url), prefix \(configuration.redis.prefix)"
    for line in snapshot.lines(on: console.output, place: place) { console.print(line) }
  }
}
