internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show workers, backlog, dead letters and the last minute's outcomes.",
    discussion: """
        pushpool status
        watch -n 2 pushpool status
        pushpool status --json

      With --check it ends with 1 when there is an alarm or Redis is set up unsafely, for monitors:

        pushpool status --check --json || echo "look at pushpool"
      """)

  @Flag(help: "End with 1 when there is an alarm, or Redis is set up unsafely.")
  var check = false

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard.with(check ? .isIgnored : .endsWell)
    let configuration = try shared.configurationInTrouble()
    let session = try await RedisSession.open(configuration.redis, as: .dashboard)
    let snapshot = try await session.ask { stores throws(RedisError) in
      try await FleetSnapshot.read(stores)
    }
    await session.close()
    let accepted = configuration.redis.acceptedRisks
    if shared.json {
      console.print(json: snapshot.json(accepting: accepted))
    } else {
      let place = "Redis \(configuration.redis.url), prefix \(configuration.redis.prefix)"
      for line in snapshot.lines(on: console.output, place: place, accepting: accepted) {
        console.print(line)
      }
    }
    let fields = snapshot.alarmFields(accepting: accepted)
    guard check, !fields.isEmpty else { return }
    throw CommandFailure(
      .unsent,
      "\(fields.count) alarm\(fields.count == 1 ? "" : "s"): \(fields.joined(separator: ", "))")
  }
}
