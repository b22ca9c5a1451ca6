package import ArgumentParser
import Glibc
import LocalServices

/// `pushpool-bench`.
package struct BenchCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "pushpool-bench",
    abstract: "Measure what a push costs, beside h2load's request in the same run.",
    discussion: """
      Starts a redis-server, a pushpool-simulator and a worker of one lane of its own, and leaves
      nothing behind. Build it for release, as `make bench` does:
        swift build -c release --product pushpool
        swift build -c release --product pushpool-simulator
        swift build -c release --product pushpool-bench
        .build/release/pushpool-bench --scenario apns --count 300000

      Figures are CPU times, which a busy machine changes less than wall times. The exit code is 1
      when a required budget is missed, 69 when something could not be measured.
      """)

  private static let missed = ExitCode(1)
  /// EX_UNAVAILABLE of sysexits(3).
  private static let unavailable = ExitCode(69)

  @Option(
    name: .customLong("scenario"),
    help: "What to measure: apns, fcm, answer-time or latency; repeatable (default: all).")
  var scenarios: [Scenario] = []

  @Option(help: "Installations, and pushes of a campaign.")
  var count = BenchLimits.countDefault

  @Option(help: "How often worker and h2load take turns; the medians count.")
  var repeats = BenchLimits.repeatsDefault

  @Option(
    name: .customLong("json"),
    help: ArgumentHelp("Write the figures to this file too.", valueName: "file"))
  var jsonFile: String?

  package init() {}

  package func validate() throws {
    guard (BenchLimits.countMin...BenchLimits.countMax).contains(count) else {
      throw ValidationError(
        "--count takes \(BenchLimits.countMin) to \(BenchLimits.countMax), not \(count).")
    }
    guard (1...BenchLimits.repeatsMax).contains(repeats) else {
      throw ValidationError("--repeats takes 1 to \(BenchLimits.repeatsMax), not \(repeats).")
    }
  }

  package func run() async throws {
    let progress = Progress()
    let report: Report
    do {
      let bench = Bench(
        programs: try Programs(), count: count, repeats: repeats, progress: progress)
      var results: [ScenarioResult] = []
      for scenario in scenarios.isEmpty ? Scenario.allCases : scenarios {
        results.append(try await bench.run(scenario))
      }
      progress.end()
      report = Report(results)
      if let jsonFile { try PrivateFile.write(report.json, to: jsonFile) }
    } catch {
      progress.end()
      progress.note("pushpool-bench: \(error)")
      throw Self.unavailable
    }
    print(report.text, terminator: "")
    if !report.isKept { throw Self.missed }
  }
}
