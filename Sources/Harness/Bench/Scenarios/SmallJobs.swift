import LocalServices
import Model
import Stage

/// A backlog of jobs to one user each: what a job costs the worker and Redis, and what Redis keeps of it.
struct SmallJobs {
  private struct Measurement {
    var backlog: Backlog.Measurement
    /// Bytes that Redis keeps of all jobs.
    var keptBytes: Int
  }

  let scenario: Scenario
  let with: Circumstances

  private static let jobs = BenchLimits.smallJobs

  func run() async throws -> ScenarioResult {
    let population = Population(networks: [.apns], users: BenchLimits.warmUpUsers)
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      var measured: [Measurement] = []
      for number in 1...with.runs {
        with.progress.say("\(scenario.name): \(number) of \(with.runs)")
        measured.append(try await measure(number, population, stage))
      }
      return result(measured)
    }
  }

  private func measure(
    _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Measurement {
    try await stage.withWorker { worker in
      let warmUp = Campaign.jobs(
        "warm-up-\(number)", population, Message(), users: 0..<population.users)
      try await Campaign(session: stage.session).run(warmUp, accepting: population.users)
      let jobs = Campaign.ofOneUser("small-\(number)", Self.jobs, population, Message())
      let before = try await stage.session.unboundedMemory()
      let backlog = try await Backlog(stage: stage, worker: worker).measure(
        jobs, pushes: jobs.count)
      return Measurement(
        backlog: backlog, keptBytes: try await stage.session.unboundedMemory() - before)
    }
  }

  private func result(_ measured: [Measurement]) -> ScenarioResult {
    let (count, runs) = (Double(Self.jobs), measured.map(\.backlog))
    var result = ScenarioResult(scenario.name, pushes: Self.jobs, runs: with.runs)
    result.pushesPerSecond = Samples.median(runs.map { count / $0.wallSeconds })
    result.workerMicroseconds = Samples.median(runs.map { $0.workerMicroseconds / count })
    result.redisMicroseconds = Samples.median(runs.map { $0.redisMicroseconds / count })
    result.redisCommands = Samples.median(runs.map { Double($0.commands) / count })
    var others: [Budget.Measure: Double] = [:]
    others[.jobsPerSecond] = result.pushesPerSecond
    others[.workerPerJob] = result.workerMicroseconds
    others[.redisPerJob] = result.redisMicroseconds
    // Of all runs together: the table of keys grows by leaps.
    others[.bytesPerJob] =
      Double(measured.reduce(0) { $0 + $1.keptBytes }) / (count * Double(measured.count))
    result.check(scenario.budgets, others: others)
    return result
  }
}
