import LocalServices
import Model
import Stage

/// Jobs of one user each at a steady rate: how long they take from the producer's XADD to the line in the simulator's accept
/// log, and what they cost Redis with one lane and with many.
struct SteadyEvents {
  private struct Measurement {
    var latency: LatencyFigures?
    var redisMicroseconds: Double
    var workerMicroseconds: Double
  }

  let scenario: Scenario
  let with: Circumstances

  private static let jobs = BenchLimits.steadyPerSecond * BenchLimits.steadySeconds
  private static let lanesMany = 96

  func run() async throws -> [ScenarioResult] {
    let one = try await measure(lanes: 1)
    let many = try await measure(lanes: Self.lanesMany)
    return [
      result("1", one, [.steadyEvents], [:]),
      result(
        "\(Self.lanesMany)", many, [.lanesBesideOne],
        [.lanesBesideOne: many.redisMicroseconds / one.redisMicroseconds]),
    ]
  }

  private func result(
    _ name: String, _ measured: Measurement, _ budgets: [Budget],
    _ others: [Budget.Measure: Double]
  ) -> ScenarioResult {
    var result = ScenarioResult("\(scenario.name)-\(name)", pushes: Self.jobs, runs: 1)
    result.latency = measured.latency
    result.redisMicroseconds = measured.redisMicroseconds
    result.workerMicroseconds = measured.workerMicroseconds
    result.check(budgets, others: others)
    return result
  }

  private func measure(lanes: Int) async throws -> Measurement {
    var settings = StageSettings()
    settings.lanes = lanes
    settings.keepsAcceptLog = true
    let population = Population(
      networks: [.apns], users: BenchLimits.warmUpUsers + Self.jobs,
      markedFrom: BenchLimits.warmUpUsers)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      return try await stage.withWorker { worker in
        let warmUp = Campaign.jobs(
          "warm-up", population, Message(), users: 0..<BenchLimits.warmUpUsers)
        try await Campaign(session: stage.session).run(
          warmUp, accepting: BenchLimits.warmUpUsers)
        try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.restMs))
        with.progress.say("\(scenario.name): \(Self.jobs) jobs of one user, \(lanes) lanes")
        let (redis, usage) = (try ProcessUsage(pid: await stage.redis.pid), try worker.usage())
        let producer = SteadyProducer(
          session: stage.session, population: population, perSecond: BenchLimits.steadyPerSecond)
        let starts = try await producer.run(BenchLimits.warmUpUsers..<population.users)
        try await producer.finish(starts)
        let redisSpent =
          try ProcessUsage(pid: await stage.redis.pid).cpuMicroseconds - redis.cpuMicroseconds
        let spent = try worker.usage().cpuMicroseconds - usage.cpuMicroseconds
        let samples = try MarkedAccepts.latencies(starts, population, in: stage.acceptLogFile)
        return Measurement(
          latency: LatencyFigures(samples), redisMicroseconds: redisSpent / Double(Self.jobs),
          workerMicroseconds: spent / Double(Self.jobs))
      }
    }
  }
}
