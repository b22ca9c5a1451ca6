import LocalServices
import Model
import Stage

/// The cost to Redis of a steady load of small jobs when few lanes wait for it, and when many do.
struct WakingLanes {
  private struct Fleet {
    let workers: Int
    let lanes: Int
  }

  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    let one = try await redisMicroseconds(of: Fleet(workers: 1, lanes: 1))
    let lanes = try await redisMicroseconds(of: Fleet(workers: 1, lanes: 96))
    let workers = try await redisMicroseconds(of: Fleet(workers: 6, lanes: 16))
    var result = ScenarioResult(scenario.name, pushes: Self.jobs, runs: 1)
    func perJob(_ microseconds: Double) -> String {
      Figure.text(microseconds / Double(Self.jobs), decimals: 0)
    }
    result.note =
      "a job took Redis \(perJob(one)) µs with one lane, \(perJob(lanes)) with 96, and "
      + "\(perJob(workers)) with 6 workers of 16"
    result.check(
      scenario.budgets, others: [.lanesBesideOne: lanes / one, .workersBesideOne: workers / one])
    return result
  }

  private static let jobs = BenchLimits.herdPerSecond * BenchLimits.herdSeconds

  private func redisMicroseconds(of fleet: Fleet) async throws -> Double {
    var settings = StageSettings()
    settings.lanes = fleet.lanes
    let population = Population(networks: [.apns], users: BenchLimits.warmUpUsers)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      with.progress.say("\(scenario.name): \(fleet.workers) x \(fleet.lanes) lanes")
      return try await stage.withWorkers(fleet.workers) {
        let warmUp = Campaign.jobs("warm-up", population, Message(), users: 0..<population.users)
        try await Campaign(session: stage.session).run(warmUp, accepting: population.users)
        try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.restMs))
        let before = try ProcessUsage(pid: await stage.redis.pid).cpuMicroseconds
        let jobs = try await steadyJobs(population, stage)
        let spent = try ProcessUsage(pid: await stage.redis.pid).cpuMicroseconds - before
        try await Campaign(session: stage.session).finish(jobs, accepting: jobs.count)
        return spent
      }
    }
  }

  private func steadyJobs(
    _ population: Population, _ stage: BenchStage
  ) async throws -> [Campaign.Job] {
    let clock = ContinuousClock()
    let start = clock.now
    var jobs: [Campaign.Job] = []
    for number in 0..<Self.jobs {
      let user = number % population.users
      let id = "single-\(number)"
      let job = Campaign.Job(
        id: id, bytes: Message().job(id: id, population: population, users: user..<user + 1))
      try await clock.sleep(
        until: start + .milliseconds(number * 1_000 / BenchLimits.herdPerSecond))
      try await stage.session.enqueue(job.bytes)
      jobs.append(job)
    }
    return jobs
  }
}
