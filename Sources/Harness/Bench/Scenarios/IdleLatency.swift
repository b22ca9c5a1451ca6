import Glibc
import LocalServices
import Model

/// From the producer's XADD to the line in the simulator's accept log, one job of one user at a time.
struct IdleLatency {
  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.keepsAcceptLog = true
    let population = Population(networks: [.apns], users: BenchLimits.warmUpUsers)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      with.progress.say("\(scenario.name): \(BenchLimits.idleJobs) jobs of one user")
      let samples = try await stage.withWorker { worker in
        let warmUp = Campaign.jobs("warm-up", population, Message(), users: 0..<population.users)
        try await Campaign(session: stage.session).run(warmUp, accepting: population.users)
        var samples: [Double] = []
        for number in 0..<BenchLimits.idleJobs {
          let pauseMs = UInt64.random(in: BenchLimits.idlePauseMs)
          try await ContinuousClock().sleep(for: .milliseconds(pauseMs))
          samples.append(try await one(number, population, stage))
        }
        return samples
      }
      var result = ScenarioResult(scenario.name, pushes: samples.count, runs: 1)
      result.latency = LatencyFigures(samples)
      result.check(scenario.budgets)
      return result
    }
  }

  /// - Returns: milliseconds.
  private func one(_ number: Int, _ population: Population, _ stage: BenchStage) async throws
    -> Double
  {
    let user = number % population.users
    let job = Message().job(id: "single-\(number)", population: population, users: user..<user + 1)
    let bytesBefore = try logBytes(stage)
    let clock = ContinuousClock()
    let start = try await stage.session.enqueue(job)
    while try logBytes(stage) == bytesBefore {
      guard clock.now - start < .milliseconds(BenchLimits.pushMsMax) else {
        throw BenchError("a push took longer than \(BenchLimits.pushMsMax / 1_000) s")
      }
      // Not a task's sleep, which wakes up to a millisecond late.
      usleep(BenchLimits.idlePollMicroseconds)
    }
    return (clock.now - start) / .milliseconds(1)
  }

  private func logBytes(_ stage: BenchStage) throws(BenchError) -> Int {
    var information = stat()
    guard stat(stage.acceptLogFile, &information) == 0 else {
      throw BenchError("the simulator's accept log is gone")
    }
    return Int(information.st_size)
  }
}
