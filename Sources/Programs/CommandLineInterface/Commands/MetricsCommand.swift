internal import ArgumentParser
internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store

struct MetricsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics",
    abstract: "Print the fleet's metrics once, for Prometheus.",
    discussion: """
        pushpool metrics
        pushpool metrics --format openmetrics
        pushpool metrics --output pushpool.prom

      The metrics are those of the whole fleet: all workers tell theirs to Redis, so that one machine reads \
      them for all. docs/reference/metrics.md says what each means, and what to do when it looks wrong.

      With --output the file is replaced in one step. A collector that looks at it meanwhile finds the old \
      metrics or the new ones. For the textfile collector of node_exporter, let a timer or cron write a \
      file that ends in .prom into its folder, each 15 s to a minute. When Redis cannot be asked, the file \
      stays as it is, and pushpool_read_timestamp_seconds tells how old it is.

      A Redis user who may only look is enough: pushpool-dashboard in docs/reference/redis.md.
      """)

  @Option(
    help: ArgumentHelp(
      "Replace this file in place of printing; everybody on the machine may read it.",
      valueName: "file"))
  var output: String?

  @Option(help: "The text format: prometheus or openmetrics.")
  var format: MetricsFormat = .prometheus

  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard shared.json else { return }
    throw ValidationError("metrics are no JSON: leave out --json, or use pushpool status --json")
  }

  func run() async throws {
    let session = try await shared.openSession(as: .dashboard)
    let shards = session.placement.shards.count
    let metrics = try await session.look(on: .standard) { stores throws(RedisError) in
      try await FleetMetrics.read(stores, of: shards)
    }
    await session.close()
    let text = format.text(metrics.families)
    guard let output else { return Console.standard.print(block: text) }
    try ReplacedFile.write(Array(text.utf8), to: output, mode: 0o644)
  }
}

extension MetricsFormat: ExpressibleByArgument {}
