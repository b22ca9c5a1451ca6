import LocalServices
import Model
import Stage

/// Campaigns to a network that ends each connection after so many requests, one after the other: how long the last push of the
/// slowest of them takes beside that of the middle one.
struct LastPush {
  let scenario: Scenario
  let with: Circumstances

  private static let users = BenchLimits.slowUsers

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.answerMs = BenchLimits.slowAnswerMs
    let population = Population(networks: [.apns], users: Self.users)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      var seconds: [Double] = []
      for number in 1...BenchLimits.lastPushCampaigns {
        with.progress.say("\(scenario.name): \(number) of \(BenchLimits.lastPushCampaigns)")
        seconds.append(try await campaign(number, population, stage))
      }
      return result(seconds)
    }
  }

  private func result(_ seconds: [Double]) -> ScenarioResult {
    var result = ScenarioResult(scenario.name, pushes: Self.users, runs: seconds.count)
    let (median, longest) = (Samples.median(seconds) ?? .nan, seconds.max() ?? .nan)
    result.pushesPerSecond = Double(Self.users) / median
    result.note =
      "the last push after \(Figure.text(median, decimals: 2)) s in the middle, "
      + "\(Figure.text(longest, decimals: 2)) at most"
    result.check(scenario.budgets, others: [.lastPush: longest / median])
    return result
  }

  /// - Returns: the seconds from enqueueing to the last acceptance. Each has a worker of its own, which has yet to learn what the
  ///   network does.
  private func campaign(
    _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Double {
    try await stage.withWorker { _ in
      try await stage.simulator.follow(stage.settings.script)
      let warmUp = Campaign.jobs(
        "warm-up-\(number)", population, Message(), users: 0..<BenchLimits.warmUpUsers)
      try await Campaign(session: stage.session).run(warmUp, accepting: BenchLimits.warmUpUsers)
      var troubled = stage.settings
      troubled.trouble = .goAway
      try await stage.simulator.follow(troubled.script)
      let clock = ContinuousClock()
      let wanted = try await stage.simulator.counters().accepted + Self.users
      let jobs = Campaign.jobs(
        "campaign-\(number)", population, Message(), users: 0..<Self.users)
      let start = clock.now
      for job in jobs { try await stage.session.enqueue(job.bytes) }
      while try await stage.simulator.counters().accepted < wanted {
        guard clock.now - start < .milliseconds(BenchLimits.campaignMsMax) else {
          throw BenchError("a campaign was not accepted")
        }
        try await clock.sleep(for: .milliseconds(BenchLimits.slowPollMs))
      }
      let seconds = (clock.now - start) / .seconds(1)
      try await Campaign(session: stage.session).finish(jobs, accepting: Self.users)
      return seconds
    }
  }
}
