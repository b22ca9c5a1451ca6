import LocalServices
import Model
import Stage

/// How many pushes a second a network in trouble accepts, beside the same network without.
struct TroubledNetwork {
  let scenario: Scenario
  let with: Circumstances

  private var pushes: Int { max(with.pushes, BenchLimits.troubledPushesMin) }
  private var total: Int { pushes * BenchLimits.troubledCampaigns }

  func run() async throws -> [ScenarioResult] {
    let population = Population(networks: [.apns], users: pushes)
    var settings = StageSettings()
    settings.answerMs = BenchLimits.troubledAnswerMs
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      return try await run(population, stage)
    }
  }

  /// A measurement of one trouble, or of none.
  private struct Run {
    /// Pushes accepted a second, in the middle of it.
    var rate: Double
    /// Connections that the network cut.
    var cuts: Int
    /// Pushes that it accepted once more.
    var repeated: Int
  }

  /// A trouble with its budget, if it has one, and what was measured of it, run by run.
  private struct Trial {
    let trouble: NetworkTrouble
    var budget: Budget?
    var runs: [Run] = []
    /// The rates beside those without trouble.
    var ratios: [Double] = []

    /// How many pushes a cut has sent twice.
    var note: String? {
      let (cuts, repeated) = (runs.map(\.cuts).reduce(0, +), runs.map(\.repeated).reduce(0, +))
      guard cuts > 0 else { return nil }
      let each = Figure.text(Double(repeated) / Double(cuts), decimals: 1)
      return
        "\(repeated) pushes were sent twice, \(each) for each of \(cuts) connections that were cut; "
        + "a connection may have \(BenchLimits.streams) streams in flight"
    }
  }

  private func run(
    _ population: Population, _ stage: BenchStage
  ) async throws -> [ScenarioResult] {
    var trials = [
      Trial(trouble: .answers(percent: 5), budget: .leastTrouble),
      Trial(trouble: .answers(percent: 10), budget: .littleTrouble),
      Trial(trouble: .bursts(percent: 10), budget: .troubleInBursts),
      Trial(trouble: .answers(percent: 30), budget: .muchTrouble),
      Trial(trouble: .expiredAtRandom, budget: .oneServerExpired),
      Trial(trouble: .resetAtRandom, budget: .oneStreamReset),
      Trial(trouble: .answers(percent: 60), budget: .mostTrouble),
      Trial(trouble: .goAway, budget: .connectionsGoAway),
      Trial(trouble: .closing, budget: .connectionsClose),
      Trial(trouble: .cutAtRandom),
    ]
    var before = try await measure(.none, "before", population, stage)
    var without = [before]
    for number in 1...with.runs {
      for index in trials.indices {
        // Between two without: the machine's speed changes within the minutes that all of this takes.
        let name = "\(trials[index].trouble.name)-\(number)"
        let run = try await measure(trials[index].trouble, name, population, stage)
        let after = try await measure(.none, "after-\(name)", population, stage)
        trials[index].runs.append(run)
        trials[index].ratios.append(run.rate * 2 / (before.rate + after.rate))
        without.append(after)
        before = after
      }
    }
    return [result(.none, without)] + trials.map(result)
  }

  private func result(_ trial: Trial) -> ScenarioResult {
    var result = result(trial.trouble, trial.runs)
    result.note = trial.note
    guard let budget = trial.budget else { return result }
    var others: [Budget.Measure: Double] = [:]
    others[budget.measure] = Samples.median(trial.ratios)
    result.check([budget], others: others)
    return result
  }

  private func result(_ trouble: NetworkTrouble, _ runs: [Run]) -> ScenarioResult {
    var result = ScenarioResult(
      "\(scenario.name)-\(trouble.name)", pushes: total, runs: with.runs)
    result.pushesPerSecond = Samples.median(runs.map(\.rate))
    return result
  }

  private func measure(
    _ trouble: NetworkTrouble, _ name: String, _ population: Population, _ stage: BenchStage
  ) async throws -> Run {
    with.progress.say("\(scenario.name): \(trouble.name), \(name)")
    let jobs = (1...BenchLimits.troubledCampaigns).flatMap { number in
      Campaign.jobs("\(name)-\(number)", population, Message(), users: 0..<population.users)
    }
    try await follow(trouble, stage)
    return try await stage.withWorker { _ in
      let before = try await stage.simulator.counters()
      for job in jobs { try await stage.session.enqueue(job.bytes) }
      let rate = try await steadyRate(stage, acceptedBefore: before.accepted)
      // The rest is not what is measured, and must not be in the way of the next campaign.
      try await follow(.none, stage)
      try await Campaign(session: stage.session).end(jobs)
      let after = try await stage.simulator.counters()
      return Run(
        rate: rate, cuts: after.drops - before.drops,
        repeated: max(0, after.accepted - before.accepted - total))
    }
  }

  private func follow(_ trouble: NetworkTrouble, _ stage: BenchStage) async throws {
    var settings = stage.settings
    settings.trouble = trouble
    try await stage.simulator.follow(settings.script)
  }

  /// Of the campaigns' middle, or of what it comes to within the time that it has.
  private func steadyRate(
    _ stage: BenchStage, acceptedBefore: Int
  ) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    var points = [Campaign.Point(atSeconds: 0, accepted: 0)]
    while points[points.count - 1].accepted < Int(Double(total) * BenchLimits.troubledTo),
      points[points.count - 1].atSeconds < BenchLimits.troubledSeconds
    {
      try await clock.sleep(until: clock.now + .milliseconds(BenchLimits.pollMs))
      let accepted = try await stage.simulator.counters().accepted - acceptedBefore
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
