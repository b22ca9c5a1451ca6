import LocalServices
import Model
import Stage

/// How much a network gets of the rate that it takes, and how much it refuses, while workers learn that rate from its answers.
struct LimitedRate {
  let scenario: Scenario
  let with: Circumstances

  private static let users =
    BenchLimits.rateTaken * (BenchLimits.rateFromSeconds + BenchLimits.rateSeconds) * 2

  func run() async throws -> [ScenarioResult] {
    var results: [ScenarioResult] = []
    for workers in BenchLimits.rateWorkers { results.append(try await run(workers)) }
    return results
  }

  private func run(_ workers: Int) async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.networks = [.fcm]
    settings.messagesPerMinute = BenchLimits.rateMessagesPerMinute
    settings.trouble = .rate(perSecond: BenchLimits.rateTaken)
    let population = Population(networks: [.fcm], users: Self.users)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      with.progress.say("\(scenario.name): \(workers) workers")
      return try await stage.withWorkers(workers) {
        for job in Campaign.jobs("rate", population, Message(), users: 0..<population.users) {
          try await stage.session.enqueue(job.bytes)
        }
        try await eventually(stage) { $0.accepted > 0 }
        // The step up to a quota takes longer than that: what is refused counts from the start on.
        try await ContinuousClock().sleep(for: .seconds(BenchLimits.rateFromSeconds))
        let (before, start) = (try await stage.simulator.counters(), ContinuousClock.now)
        try await ContinuousClock().sleep(for: .seconds(BenchLimits.rateSeconds))
        let after = try await stage.simulator.counters()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return result(workers, before, after, seconds: seconds)
      }
    }
  }

  private func result(
    _ workers: Int, _ before: SimulatorCounters, _ after: SimulatorCounters, seconds: Double
  ) -> ScenarioResult {
    let perSecond = Double(after.accepted - before.accepted) / seconds
    let refused = after.answers[429] ?? 0
    var result = ScenarioResult(
      workers == 1 ? scenario.name : "\(scenario.name)-\(workers)-workers",
      pushes: after.accepted, runs: 1)
    result.pushesPerSecond = perSecond
    result.note = "\(refused) refused, of a network that takes \(BenchLimits.rateTaken) a second"
    result.check(
      scenario.budgets,
      others: [
        .rateTaken: perSecond / Double(BenchLimits.rateTaken),
        .rateWasted: 100 * Double(refused) / Double(max(1, refused + after.accepted)),
      ])
    return result
  }

  /// Waits until the simulator has counted that.
  private func eventually(
    _ stage: BenchStage, _ isReached: (SimulatorCounters) -> Bool
  ) async throws {
    let end = ContinuousClock.now + .milliseconds(BenchLimits.campaignMsMax)
    while !isReached(try await stage.simulator.counters()) {
      guard ContinuousClock.now < end else { throw BenchError("nothing was accepted") }
      try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.pollMs))
    }
  }
}
