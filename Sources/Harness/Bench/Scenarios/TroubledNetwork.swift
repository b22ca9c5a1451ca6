import LocalServices
import Model
import Stage

/// How many pushes a second a network in trouble accepts, beside the same network without.
struct TroubledNetwork {
  let scenario: Scenario
  let with: Circumstances

  private var pushes: Int { max(with.pushes, BenchLimits.troubledPushesMin) }

  func run() async throws -> [ScenarioResult] {
    let troubles: [(NetworkTrouble, Budget?)] = [
      (.none, nil), (.answers(percent: 10), .littleTrouble), (.answers(percent: 30), .muchTrouble),
      (.goAway, .connectionsGoAway), (.closing, .connectionsClose),
    ]
    var results: [ScenarioResult] = []
    for (trouble, budget) in troubles {
      with.progress.say("\(scenario.name): \(trouble.name)")
      var result = ScenarioResult(
        "\(scenario.name)-\(trouble.name)", pushes: pushes, runs: 1)
      result.pushesPerSecond = try await rate(trouble)
      if let budget, let alone = results.first?.pushesPerSecond, let rate = result.pushesPerSecond {
        result.check([budget], others: [budget.measure: rate / alone])
      }
      results.append(result)
    }
    return results
  }

  private func rate(_ trouble: NetworkTrouble) async throws -> Double {
    var settings = StageSettings()
    settings.trouble = trouble
    let population = Population(networks: [.apns], users: pushes)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      return try await stage.withWorker { _ in
        for job in Campaign.jobs("campaign", population, Message(), users: 0..<population.users) {
          try await stage.session.enqueue(job.bytes)
        }
        return try await steadyRate(stage)
      }
    }
  }

  /// Of the campaign's middle, or of what it comes to within the time that it has.
  private func steadyRate(_ stage: BenchStage) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    var points = [Campaign.Point(atSeconds: 0, accepted: 0)]
    while points[points.count - 1].accepted < Int(Double(pushes) * BenchLimits.troubledTo),
      points[points.count - 1].atSeconds < BenchLimits.troubledSeconds
    {
      try await clock.sleep(until: clock.now + .milliseconds(BenchLimits.pollMs))
      let accepted = try await stage.simulator.counters().accepted
      points.append(
        Campaign.Point(atSeconds: (clock.now - start) / .seconds(1), accepted: accepted))
    }
    let last = points[points.count - 1]
    let from = Int(Double(last.accepted) * BenchLimits.steadyFrom)
    guard let first = points.first(where: { $0.accepted >= from }), last.atSeconds > first.atSeconds
    else { throw BenchError("nothing was accepted") }
    return Double(last.accepted - first.accepted) / (last.atSeconds - first.atSeconds)
  }
}
