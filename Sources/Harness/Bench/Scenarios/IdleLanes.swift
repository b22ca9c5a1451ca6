import LocalServices
import Model
import Stage

/// The cost to Redis of lanes with nothing to do: many of one worker, beside one.
struct IdleLanes {
  private struct Measurement {
    /// The share of one core, in percent.
    var share: Double
    var commandsPerSecond: Double
  }

  let scenario: Scenario
  let with: Circumstances

  private static let many = 64

  func run() async throws -> ScenarioResult {
    let one = try await measure(lanes: 1)
    let many = try await measure(lanes: Self.many)
    var result = ScenarioResult(scenario.name, pushes: 0, runs: 1)
    func text(_ measured: Measurement) -> String {
      "\(Figure.text(measured.share, decimals: 2)) % and "
        + "\(Figure.text(measured.commandsPerSecond, decimals: 0)) commands a second"
    }
    result.note = "Redis has \(text(one)) with one idle lane, \(text(many)) with \(Self.many)"
    result.check(scenario.budgets, others: [.idleShare: many.share])
    return result
  }

  private func measure(lanes: Int) async throws -> Measurement {
    var settings = StageSettings()
    settings.lanes = lanes
    let population = Population(networks: [.apns], users: BenchLimits.warmUpUsers)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      with.progress.say("\(scenario.name): \(lanes)")
      return try await stage.withWorker { _ in
        let warmUp = Campaign.jobs("warm-up", population, Message(), users: 0..<population.users)
        try await Campaign(session: stage.session).run(warmUp, accepting: population.users)
        try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.restMs))
        let (before, start) = (try await stage.session.usage(), ContinuousClock.now)
        try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.idleLanesMs))
        let after = try await stage.session.usage()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return Measurement(
          share: (after.cpuMicroseconds - before.cpuMicroseconds) / (seconds * 1e6) * 100,
          commandsPerSecond: Double(after.commands - before.commands) / seconds)
      }
    }
  }
}
