package import ArgumentParser
import Glibc
import LocalServices

/// `pushpool-bench`.
package struct BenchCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "pushpool-bench",
    abstract: "Measure what a push costs, beside h2load's request in the same run.",
    discussion: """
      Starts a redis-server, a pushpool-simulator and workers of its own for each scenario, lets worker
      and h2load take turns, and leaves nothing behind, whether it ends, fails or is interrupted.
      `make bench` builds for release what it needs and runs it; then:

        .build/release/pushpool-bench --list                         what there is to measure
        .build/release/pushpool-bench --only apns,fcm --runs 5       two scenarios, five turns each
        .build/release/pushpool-bench --json new.json --compare old.json
        .build/release/pushpool-bench --plot docs/internals/performance.svg

      CPU times and their ratio to h2load's are what to look at: a busy machine changes them less
      than it changes pushes per second. For a change of the code look at `instructions`, which no
      mood of the machine changes at all:

        .build/release/pushpool-bench instructions --baseline scripts/instructions.json

      The exit code is 1 when a budget is missed or, with --compare, a ratio got worse by more than
      10 %, and 69 when a scenario could not be measured. docs/internals/performance.md explains the figures.
      """,
    subcommands: [InstructionsCommand.self])

  static let missed = ExitCode(1)
  /// EX_UNAVAILABLE of sysexits(3).
  static let unavailable = ExitCode(69)

  @Option(
    name: .customLong("only"),
    help: ArgumentHelp(
      "Only these scenarios, separated by commas; --list names them.", valueName: "name,…"))
  var only: String?

  @Flag(name: .customLong("list"), help: "List the scenarios and end.")
  var lists = false

  @Option(help: "How often worker and h2load take turns; the medians count.")
  var runs = BenchLimits.runsDefault

  @Option(help: "Pushes of a campaign.")
  var pushes = BenchLimits.pushesDefault

  @Flag(
    name: .customLong("full"),
    help: """
      Also 10M installations and an audience of 10M users; docs/internals/performance.md says how long that \
      takes and how much memory.
      """)
  var isFull = false

  @Option(
    name: .customLong("json"),
    help: ArgumentHelp("Write the figures to this file too.", valueName: "file"))
  var jsonFile: String?

  @Option(
    name: .customLong("compare"),
    help: ArgumentHelp("Show these figures of an earlier --json beside.", valueName: "file"))
  var compareFile: String?

  @Option(
    name: .customLong("plot"),
    help: ArgumentHelp("Draw the CPU times into this SVG file.", valueName: "file"))
  var plotFile: String?

  package init() {}

  package func validate() throws {
    guard (BenchLimits.pushesMin...BenchLimits.pushesMax).contains(pushes) else {
      throw ValidationError(
        "--pushes takes \(BenchLimits.pushesMin) to \(BenchLimits.pushesMax), not \(pushes).")
    }
    guard (1...BenchLimits.runsMax).contains(runs) else {
      throw ValidationError("--runs takes 1 to \(BenchLimits.runsMax), not \(runs).")
    }
    _ = try scenarios()
  }

  private func scenarios() throws -> [Scenario] {
    guard let only else { return Scenario.all }
    return try only.split(separator: ",").map { part in
      let name = String(part)
      guard let scenario = Scenario.named(name) else {
        throw ValidationError(
          "--only: there is no scenario \"\(name)\"; there are "
            + Scenario.all.map(\.name).joined(separator: ", ") + ".")
      }
      return scenario
    }
  }

  package func run() async throws {
    if lists {
      let width = Scenario.all.map(\.name.count).max() ?? 0
      for scenario in Scenario.all {
        let padding = String(repeating: " ", count: width - scenario.name.count)
        print("\(scenario.name)\(padding)  \(scenario.summary)")
      }
      return
    }
    let progress = ProgressLine()
    let report: Report
    let comparison: Comparison?
    do {
      // Before anything is measured: a mistyped name must not cost minutes.
      let old = try compareFile.map(Self.read)
      let circumstances = Circumstances(
        programs: try Programs(), pushes: pushes, runs: runs, isFull: isFull, progress: progress)
      report = await Bench(with: circumstances).run(try scenarios())
      progress.end()
      comparison = try old.map { try Comparison(old: $0, new: report) }
      if let jsonFile { try TextFile.write(report.json, to: jsonFile) }
      if let plotFile { try TextFile.write(CostPlot.svg(report.results), to: plotFile) }
    } catch {
      progress.end()
      progress.note("pushpool-bench: \(error)")
      throw Self.unavailable
    }
    print(report.text, terminator: "")
    if let comparison { print("\n" + comparison.text, terminator: "") }
    if !report.failures.isEmpty { throw Self.unavailable }
    if !report.isKept || comparison?.isWorse == true { throw Self.missed }
  }

  private static func read(_ path: String) throws(BenchError) -> [UInt8] {
    guard let bytes = TextFile.bytes(path, bytesMax: BenchLimits.reportBytesMax) else {
      throw BenchError("--compare: cannot read \(path)")
    }
    return bytes
  }
}
