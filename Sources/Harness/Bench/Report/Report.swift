import Typesetting

/// The results as a person reads them.
package struct Report: Sendable {
  package let results: [ScenarioResult]
  /// Scenarios that could not be measured, and why.
  package let failures: [ScenarioFailure]

  package init(_ results: [ScenarioResult], failures: [ScenarioFailure] = []) {
    self.results = results
    self.failures = failures
  }

  /// Whether every budget that was measured is met.
  package var isKept: Bool { results.allSatisfy { $0.checks.allSatisfy(\.isMet) } }

  package var text: String {
    var figures = TextTable(titles: [
      "scenario", "pushes/s", "worker µs", "h2load µs", "ratio", "Redis µs", "commands", "p50 ms",
      "p99 ms", "max ms", "RSS MiB", "budget", "",
    ])
    var budgets = TextTable(titles: ["budget", "measured", "limit", "aim", ""])
    for result in results {
      figures.append(Self.cells(result))
      for check in result.checks {
        budgets.append([
          "\(result.name): \(check.budget.measure.rawValue)", check.measuredText,
          check.budget.text(check.budget.limit), check.budget.aim.map(check.budget.text) ?? "-",
          check.verdict,
        ])
      }
    }
    var lines = figures.lines()
    lines += results.compactMap { result in result.note.map { "\(result.name): \($0)" } }
    lines += [""] + budgets.lines() + [""]
    lines += failures.map { "NOT MEASURED \($0.name): \($0.reason)" }
    return (lines + [Self.footnote]).joined(separator: "\n") + "\n"
  }

  /// The first budget stands in the row, since it is what the scenario is there for.
  private static func cells(_ result: ScenarioResult) -> [String] {
    let figures: [(Double?, Int)] = [
      (result.pushesPerSecond, 0), (result.workerMicroseconds, 2), (result.h2loadMicroseconds, 2),
      (result.ratio, 2), (result.redisMicroseconds, 2), (result.redisCommands, 3),
      (result.latency?.p50Ms, 1), (result.latency?.p99Ms, 1), (result.latency?.maxMs, 1),
      (result.residentMiBMax, 1),
    ]
    let first = result.checks.first
    return [result.name] + figures.map { Figure.text($0.0 ?? .nan, decimals: $0.1) } + [
      first.map { $0.budget.text($0.budget.limit) } ?? "-",
      result.checks.isEmpty ? "" : result.checks.allSatisfy(\.isMet) ? "met" : "MISSED",
    ]
  }

  private static let footnote = """
    µs: user and system CPU time per push. Medians of the runs, the ratio that of the runs' ratios; memory
    is the largest. commands: what Redis counted per push, calls inside functions included. h2load sends the
    worker's own requests, over as many connections and streams, in turn with it; what it needs to start
    is taken off. The simulator allows all streams at once, because h2load does not wait to be authorised.
    """
}

/// A scenario that could not be measured.
package struct ScenarioFailure: Sendable, Equatable {
  package let name: String
  package let reason: String

  package init(name: String, reason: String) {
    self.name = name
    self.reason = reason
  }
}
