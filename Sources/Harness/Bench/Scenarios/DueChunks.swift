import LocalServices
import Model
import Stage

/// How much of Redis's time functions take while more chunks are due than have room, and the network is down.
struct DueChunks {
  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.isNetworkDown = true
    let population = Population(networks: [.apns], users: BenchLimits.dueJobs)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      let dueMs = try await schedule(population, stage)
      return try await stage.withWorkers(BenchLimits.dueWorkers) {
        let leftMs = UInt64(max(0, dueMs - EpochClock.nowMs()))
        try await ContinuousClock().sleep(for: .milliseconds(leftMs + BenchLimits.restMs))
        with.progress.say("\(scenario.name): all of them are due")
        let (before, start) = (try await stage.session.usage(), ContinuousClock.now)
        try await ContinuousClock().sleep(for: .milliseconds(BenchLimits.dueMeasuredMs))
        let after = try await stage.session.usage()
        let elapsed = (ContinuousClock.now - start) / .microseconds(1)
        let delayed = try await stage.session.delayedChunks()
        let share =
          100 * Double(after.functionMicroseconds - before.functionMicroseconds) / elapsed
        var result = ScenarioResult(scenario.name, pushes: population.installations, runs: 1)
        result.note =
          "\(delayed) chunks were delayed at the end; Redis was asked for "
          + "\(Figure.text(Double(after.commands - before.commands) * 1e6 / elapsed, decimals: 0)) commands a second"
        result.check(scenario.budgets, others: [.functionsShare: share])
        return result
      }
    }
  }

  /// Takes jobs in that start together, one chunk each.
  private func schedule(_ population: Population, _ stage: BenchStage) async throws -> Int64 {
    let dueMs = EpochClock.nowMs() + BenchLimits.dueAfterMs
    for user in 0..<population.users {
      with.progress.tick("\(scenario.name): \(user) of \(population.users) jobs")
      try await stage.session.schedule(
        "due-\(user)", user: population.user(user), Message(), startAtMs: dueMs)
    }
    guard EpochClock.nowMs() < dueMs else {
      throw BenchError("the jobs were not taken in within \(BenchLimits.dueAfterMs) ms")
    }
    return dueMs
  }
}
