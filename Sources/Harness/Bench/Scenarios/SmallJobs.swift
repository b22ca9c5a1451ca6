import Glibc
import LocalServices
import Model
import Stage

/// A backlog of jobs to one user each: what a job costs the worker and Redis, without the producer's command.
struct SmallJobs {
  private struct Measurement {
    var wallSeconds: Double
    var workerMicroseconds: Double
    var redisMicroseconds: Double
    var commands: Int
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
      // It takes none of them in before all are there.
      worker.child.signal(SIGSTOP)
      do { try await enqueue(number, population, stage) } catch {
        worker.child.signal(SIGCONT)
        throw error
      }
      let (redis, usage) = (try ProcessUsage(pid: await stage.redis.pid), try worker.usage())
      let commands = try await stage.session.usage().commands
      let accepted = try await stage.simulator.counters().accepted
      let start = ContinuousClock.now
      worker.child.signal(SIGCONT)
      while try await stage.simulator.counters().accepted < accepted + Self.jobs {
        guard ContinuousClock.now - start < .milliseconds(BenchLimits.campaignMsMax) else {
          throw BenchError("\(Self.jobs) jobs took over \(BenchLimits.campaignMsMax / 1_000) s")
        }
        try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.pollMs))
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      try await Campaign(session: stage.session).end([
        Campaign.Job(id: id(number, Self.jobs - 1), bytes: [])
      ])
      let spent = try worker.usage().cpuMicroseconds - usage.cpuMicroseconds
      let redisSpent =
        try ProcessUsage(pid: await stage.redis.pid).cpuMicroseconds - redis.cpuMicroseconds
      let after = try await stage.session.usage().commands
      let count = Double(Self.jobs)
      return Measurement(
        wallSeconds: seconds, workerMicroseconds: spent / count,
        redisMicroseconds: redisSpent / count, commands: after - commands)
    }
  }

  private func id(_ run: Int, _ job: Int) -> String { "small-\(run)-\(job)" }

  private func enqueue(
    _ run: Int, _ population: Population, _ stage: BenchStage
  ) async throws {
    for number in 0..<Self.jobs {
      let user = number % population.users
      try await stage.session.enqueue(
        Message().job(
          id: id(run, number), population: population, users: user..<user + 1))
    }
  }

  private func result(_ runs: [Measurement]) -> ScenarioResult {
    var result = ScenarioResult(scenario.name, pushes: Self.jobs, runs: with.runs)
    func median(_ figure: (Measurement) -> Double) -> Double? { Samples.median(runs.map(figure)) }
    result.pushesPerSecond = median { Double(Self.jobs) / $0.wallSeconds }
    result.workerMicroseconds = median(\.workerMicroseconds)
    result.redisMicroseconds = median(\.redisMicroseconds)
    result.redisCommands = median { Double($0.commands) / Double(Self.jobs) }
    var others: [Budget.Measure: Double] = [:]
    others[.jobsPerSecond] = result.pushesPerSecond
    others[.workerPerJob] = result.workerMicroseconds
    others[.redisPerJob] = result.redisMicroseconds
    result.check(scenario.budgets, others: others)
    return result
  }
}
