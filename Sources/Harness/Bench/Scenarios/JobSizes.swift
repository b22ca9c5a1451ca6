import LocalServices
import Model
import Stage

/// Backlogs of jobs to few users, beside a campaign to many: what a push costs the worker and Redis together.
struct JobSizes {
  let scenario: Scenario
  let with: Circumstances

  private static let sizes: [(users: Int, jobs: Int, budget: Budget)] = [
    (1, 10_000, .pushOfOne), (5, 8_000, .pushOfFive), (20, 4_000, .pushOfTwenty),
    (100, 1_000, .pushOfHundred), (500, 200, .pushOfHundreds),
  ]

  func run() async throws -> [ScenarioResult] {
    let population = Population(networks: [.apns], users: BenchLimits.usersPerJobMax)
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      return try await stage.withWorker { worker in
        let warmUp = Campaign.jobs(
          "warm-up", population, Message(), users: 0..<BenchLimits.warmUpUsers)
        try await Campaign(session: stage.session).run(
          warmUp, accepting: BenchLimits.warmUpUsers)
        let backlog = Backlog(stage: stage, worker: worker)
        var measured: [[Backlog.Measurement]] = []
        for number in 1...with.runs {
          with.progress.say("\(scenario.name): \(number) of \(with.runs)")
          measured.append(try await measure(number, population, backlog))
        }
        return results(measured)
      }
    }
  }

  /// A campaign, and a backlog of each size behind it.
  private func measure(
    _ number: Int, _ population: Population, _ backlog: Backlog
  ) async throws -> [Backlog.Measurement] {
    let campaign = Campaign.jobs(
      "campaign-\(number)", population, Message(), users: 0..<population.users)
    var measured = [try await backlog.measure(campaign, pushes: population.users)]
    for size in Self.sizes {
      let jobs = (0..<size.jobs).map { job in
        let first = job * size.users % population.users
        let id = "of-\(size.users)-\(number)-\(job)"
        return Campaign.Job(
          id: id,
          bytes: Message().job(id: id, population: population, users: first..<first + size.users))
      }
      measured.append(try await backlog.measure(jobs, pushes: size.jobs * size.users))
    }
    return measured
  }

  private func results(_ runs: [[Backlog.Measurement]]) -> [ScenarioResult] {
    let pushes = [BenchLimits.usersPerJobMax] + Self.sizes.map { $0.users * $0.jobs }
    func cost(_ run: [Backlog.Measurement], _ index: Int) -> Double {
      (run[index].workerMicroseconds + run[index].redisMicroseconds) / Double(pushes[index])
    }
    return pushes.indices.map { index in
      let name = index == 0 ? "campaign" : String(Self.sizes[index - 1].users)
      let count = Double(pushes[index])
      var result = ScenarioResult(
        "\(scenario.name)-\(name)", pushes: pushes[index], runs: with.runs)
      result.pushesPerSecond = Samples.median(runs.map { count / $0[index].wallSeconds })
      result.workerMicroseconds = Samples.median(
        runs.map { $0[index].workerMicroseconds / count })
      result.redisMicroseconds = Samples.median(runs.map { $0[index].redisMicroseconds / count })
      result.redisCommands = Samples.median(runs.map { Double($0[index].commands) / count })
      guard index > 0 else { return result }
      let ratio = Samples.median(runs.map { cost($0, index) / cost($0, 0) })
      var others: [Budget.Measure: Double] = [:]
      others[.besideCampaign] = ratio
      result.check([Self.sizes[index - 1].budget], others: others)
      return result
    }
  }
}
