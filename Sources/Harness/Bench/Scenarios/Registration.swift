import LocalServices
import Model
import Typesetting

/// Devices that backends register by `pushpool_install`: how many a second Redis takes, and what one costs it beside a plain
/// HSET of the fields that it keeps.
struct Registration {
  private struct Measurement {
    var perSecond: Double
    var redisMicroseconds: Double
  }

  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    let count = min(with.pushes, BenchLimits.registrationsMax)
    let population = Population(networks: [.apns, .fcm], users: count * with.runs)
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await stage.session.provideRegistration()
      var registered: [Measurement] = []
      var plain: [Measurement] = []
      for run in 0..<with.runs {
        with.progress.say("\(scenario.name): \(run + 1) of \(with.runs)")
        let numbers = run * count..<(run + 1) * count
        plain.append(
          try await measure(numbers.map { Self.fields(population, $0) }, stage))
        registered.append(
          try await measure(
            try numbers.map { number in
              ["FCALL", "pushpool_install", "1", "pushpool"]
                + [try population.installation(number).json().text()]
            }, stage))
      }
      return result(registered, plain, count)
    }
  }

  private static func fields(_ population: Population, _ number: Int) -> [String] {
    [
      "HSET", "bench:\(population.tokenText(number))", "user", population.user(number),
      "environment", "production", "generation", String(number), "object_id",
      String(population.tokenText(number).suffix(32)), "created_at", "1790000000000", "updated_at",
      "1790000000000",
    ]
  }

  private func measure(_ commands: [[String]], _ stage: BenchStage) async throws -> Measurement {
    let batches = stride(from: 0, to: commands.count, by: BenchLimits.registrationsPerBatch).map {
      Array(commands[$0..<min($0 + BenchLimits.registrationsPerBatch, commands.count)])
    }
    let pid = await stage.redis.pid
    let before = try ProcessUsage(pid: pid)
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, batch) in batches.enumerated() {
        if number >= BenchLimits.importsInFlight { try await group.next() }
        group.addTask { try await stage.session.pipeline(batch) }
      }
      try await group.waitForAll()
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let spent = try ProcessUsage(pid: pid).cpuMicroseconds - before.cpuMicroseconds
    return Measurement(
      perSecond: Double(commands.count) / seconds, redisMicroseconds: spent / Double(commands.count)
    )
  }

  private func result(
    _ registered: [Measurement], _ plain: [Measurement], _ count: Int
  ) -> ScenarioResult {
    var result = ScenarioResult(scenario.name, pushes: 0, runs: with.runs)
    let perSecond = Samples.median(registered.map(\.perSecond)) ?? .nan
    let ratio = Samples.median(
      zip(registered, plain).map { $0.redisMicroseconds / $1.redisMicroseconds })
    result.redisMicroseconds = Samples.median(registered.map(\.redisMicroseconds))
    let hset = Samples.median(plain.map(\.redisMicroseconds)) ?? .nan
    result.note =
      "\(FigureText.count(Int(perSecond))) registrations a second on one connection, "
      + "\(FigureText.count(count)) at a time; an HSET costs Redis \(Figure.text(hset, decimals: 1)) µs"
    result.check(
      scenario.budgets, others: [.registrations: perSecond, .besideHSET: ratio ?? .nan])
    return result
  }
}
