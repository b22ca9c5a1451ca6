import Model

extension Report {
  /// For programs, and for a later run's `--compare`.
  package var json: String {
    let members = results.map { result -> JSONValue in
      var object: JSONObject = [
        "scenario": .string(result.name), "pushes": .integer(result.pushes),
        "runs": .integer(result.runs),
      ]
      let figures: [(String, Double?)] = [
        ("pushes_per_second", result.pushesPerSecond),
        ("worker_cpu_us_per_push", result.workerMicroseconds),
        ("h2load_cpu_us_per_request", result.h2loadMicroseconds), ("ratio", result.ratio),
        ("redis_cpu_us_per_push", result.redisMicroseconds),
        ("simulator_cpu_us_per_push", result.simulatorMicroseconds),
        ("redis_commands_per_push", result.redisCommands),
        ("redis_client_commands_per_push", result.redisClientCommands),
        ("latency_p50_ms", result.latency?.p50Ms), ("latency_p99_ms", result.latency?.p99Ms),
        ("latency_max_ms", result.latency?.maxMs),
        ("worker_rss_max_mib", result.residentMiBMax), ("redis_memory_mib", result.redisMiB),
        ("redis_call_ms", result.redisCallMs),
      ]
      for (name, figure) in figures { object[name] = figure.map(Self.number) }
      object["ratios"] = .array(result.ratios.map(Self.number))
      object["budgets"] = .array(result.checks.map(Self.check))
      return .object(object)
    }
    let failed = failures.map { failure -> JSONValue in
      .object(["scenario": .string(failure.name), "reason": .string(failure.reason)])
    }
    return JSONValue.object([
      "kept": .bool(isKept), "scenarios": .array(members), "not_measured": .array(failed),
    ]).text() + "\n"
  }

  private static func check(_ check: BudgetCheck) -> JSONValue {
    .object([
      "what": .string(check.budget.measure.rawValue), "measured": number(check.measured),
      "direction": .string(check.budget.direction == .atMost ? "at_most" : "at_least"),
      "limit": number(check.budget.limit), "aim": check.budget.aim.map(number) ?? .null,
      "met": .bool(check.isMet),
    ])
  }

  /// Three decimals; null for what was not measured.
  private static func number(_ value: Double) -> JSONValue {
    guard value.isFinite else { return .null }
    let text = Figure.text(value, decimals: 3).filter { $0 != "," }
    return (try? JSONParser().parse(Array(text.utf8))) ?? .null
  }
}
