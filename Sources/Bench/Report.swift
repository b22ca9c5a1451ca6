import Model

/// The results as a person reads them, and as JSON.
package struct Report: Sendable {
  package let results: [ScenarioResult]

  package init(_ results: [ScenarioResult]) {
    self.results = results
  }

  package var isKept: Bool {
    results.allSatisfy { $0.budgets.allSatisfy { $0.isMet || !$0.isRequired } }
  }

  package var text: String {
    var figures = TextTable(titles: [
      "scenario", "pushes/s", "worker µs", "h2load µs", "ratio", "Redis µs", "Redis commands",
      "from clients", "simulator µs", "RSS MiB",
    ])
    var budgets = TextTable(titles: ["budget", "measured", "limit", "required", ""])
    for result in results {
      if result.pushesPerSecond != nil { figures.append(Self.cells(result)) }
      for budget in result.budgets {
        budgets.append([
          budget.what, budget.measuredText, budget.limitText, budget.isRequired ? "yes" : "no",
          budget.verdict,
        ])
      }
    }
    let lines = figures.lines + [""] + budgets.lines + ["", Self.footnote]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func cells(_ result: ScenarioResult) -> [String] {
    let figures: [(Double?, Int)] = [
      (result.pushesPerSecond, 0), (result.workerMicroseconds, 2), (result.h2loadMicroseconds, 2),
      (result.ratio, 2), (result.redisMicroseconds, 2), (result.redisCommands, 3),
      (result.redisClientCommands, 3), (result.simulatorMicroseconds, 2),
      (result.residentMiBMax, 1),
    ]
    return [result.scenario.rawValue]
      + figures.map { Figure.text($0.0 ?? .nan, decimals: $0.1) }
  }

  private static let footnote = """
    CPU is user and system time per push. All figures are medians of the repeats, the ratio that of
    the repeats' ratios; memory is the largest of all. The
    worker has one lane with 2 connections of 1,000 streams, and h2load the same: it sends the
    worker's own request, and what it needs to start is taken off. The simulator allows all streams
    from the start, because h2load does not wait until it is authorised.
    """

  package var json: String {
    let members = results.map { result -> JSONValue in
      var object: JSONObject = [
        "scenario": .string(result.scenario.rawValue), "pushes": .integer(result.pushes),
        "repeats": .integer(result.repeats),
      ]
      let figures: [(String, Double?)] = [
        ("pushes_per_second", result.pushesPerSecond),
        ("worker_cpu_us_per_push", result.workerMicroseconds),
        ("h2load_cpu_us_per_request", result.h2loadMicroseconds), ("ratio", result.ratio),
        ("redis_cpu_us_per_push", result.redisMicroseconds),
        ("simulator_cpu_us_per_push", result.simulatorMicroseconds),
        ("redis_commands_per_push", result.redisCommands),
        ("redis_client_commands_per_push", result.redisClientCommands),
        ("worker_rss_max_mib", result.residentMiBMax),
      ]
      for (name, figure) in figures { object[name] = figure.map(Self.number) }
      object["ratios"] = .array(result.ratios.map(Self.number))
      object["budgets"] = .array(result.budgets.map(Self.budget))
      return .object(object)
    }
    return JSONValue.object(["kept": .bool(isKept), "scenarios": .array(members)]).text() + "\n"
  }

  private static func budget(_ budget: Budget) -> JSONValue {
    .object([
      "what": .string(budget.what), "measured": number(budget.measured),
      "direction": .string(budget.direction == .atMost ? "at_most" : "at_least"),
      "limit": number(budget.limit), "required": .bool(budget.isRequired),
      "met": .bool(budget.isMet),
    ])
  }

  /// Three decimals; null for what was not measured.
  private static func number(_ value: Double) -> JSONValue {
    guard value.isFinite else { return .null }
    let text = Figure.text(value, decimals: 3).filter { $0 != "," }
    return (try? JSONParser().parse(Array(text.utf8))) ?? .null
  }
}
