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
    let session = try await RedisSession.open(configuration, as: .dashboard)
    let (snapshot, absences) = try await session.look { stores throws(RedisError) in
      try await FleetSnapshot.read(stores)
    }
    await session.close()
    let accepted = AcceptedRisks(configuration.shards)
    if shared.json {
      console.print(json: snapshot.json(accepting: accepted, without: absences))
    } else {
      let place = "Redis \(configuration.shards.place)"
      let lines = snapshot.lines(
        on: console.output, place: place, accepting: accepted, without: absences)
      for line in lines { console.print(line) }
    }
    let fields =
      absences.map { "shard|\($0.shard.name)" } + snapshot.alarmFields(accepting: accepted)
    guard check, !fields.isEmpty else { return }
    throw CommandFailure(
      .unsent,
      "\(fields.count) alarm\(fields.count == 1 ? "" : "s"): \(fields.joined(separator: ", "))")
  }
}
