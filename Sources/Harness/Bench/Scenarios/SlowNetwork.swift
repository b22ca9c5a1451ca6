import LocalServices
import Model
import Stage

/// High-priority jobs of one user each behind a low-priority campaign, where the network is what limits: it takes few pushes at
/// a time and answers late.
struct SlowNetwork {
  let scenario: Scenario
  let with: Circumstances

  private static let campaignUsers = BenchLimits.usersPerJobMax / 5
  private static let jobs = BenchLimits.orderPerSecond * BenchLimits.orderSeconds

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.keepsAcceptLog = true
    settings.answerMs = BenchLimits.orderAnswerMs
    settings.streams = BenchLimits.orderStreams
    let population = Population(
      networks: [.apns], users: Self.campaignUsers + Self.jobs, markedFrom: Self.campaignUsers)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      let measured = try await stage.withWorker { _ in try await measure(population, stage) }
      let samples = try MarkedAccepts.latencies(
        measured.starts, population, in: stage.acceptLogFile)
      var result = ScenarioResult(scenario.name, pushes: samples.count, runs: 1)
      result.latency = LatencyFigures(samples)
      result.pushesPerSecond = measured.perSecond
      result.note = "the network took \(Figure.text(measured.perSecond, decimals: 0)) a second"
      result.check(scenario.budgets)
      return result
    }
  }

  /// - Returns: when each marked user's job was enqueued, and how many pushes the network took a second meanwhile.
  private func measure(
    _ population: Population, _ stage: BenchStage
  ) async throws -> (starts: [Int: Int64], perSecond: Double) {
    let campaign = Campaign.jobs(
      "campaign", population, Message(), users: 0..<Self.campaignUsers)
    for job in campaign { try await stage.session.enqueue(job.bytes, priority: .low) }
    try await Campaign(session: stage.session).isStarted(campaign[0])
    try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.restMs))
    with.progress.say("\(scenario.name): \(Self.jobs) jobs behind a campaign")
    let before = try await stage.simulator.counters().accepted
    let start = ContinuousClock.now
    let producer = SteadyProducer(
      session: stage.session, population: population, perSecond: BenchLimits.orderPerSecond,
      priority: .high)
    let starts = try await producer.run(Self.campaignUsers..<population.users)
    try await producer.finish(starts)
    let accepted = try await stage.simulator.counters().accepted - before
    return (starts, Double(accepted) / ((ContinuousClock.now - start) / .seconds(1)))
  }
}
