import LocalServices
import Model
import Stage
import Typesetting

/// Worker memory while it works off a backlog that was there before it.
struct BacklogMemory {
  private struct Sample {
    var accepted: Int
    var bytes: Int
  }

  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    let pushes = BenchLimits.backlogPushes
    let users = BenchLimits.usersPerJobMax
    let population = Population(networks: [.apns], users: users)
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<users)
      let jobs = (0..<pushes / users).flatMap {
        Campaign.jobs("backlog-\($0)", population, Message(), users: 0..<users)
      }
      for job in jobs { try await stage.session.enqueue(job.bytes) }
      with.progress.say("\(scenario.name): \(FigureText.count(pushes)) pushes are waiting")
      var samples: [Sample] = []
      let usage = try await stage.withWorker { worker in
        try await Campaign(session: stage.session).finish(jobs, accepting: pushes) {
          let accepted = try await stage.simulator.counters().accepted
          samples.append(Sample(accepted: accepted, bytes: try worker.usage().residentBytes))
        }
        return try worker.usage()
      }
      var result = ScenarioResult(scenario.name, pushes: pushes, runs: 1)
      result.residentMiBMax = Double(usage.residentBytesMax) / 1_048_576
      result.check(scenario.budgets, others: [.growth: Self.growth(samples, of: pushes)])
      return result
    }
  }

  /// The most memory in the last fifth of the pushes beside the most in the second: the first fills
  /// windows and caches.
  private static func growth(_ samples: [Sample], of pushes: Int) -> Double {
    let fifth = pushes / 5
    let early = samples.filter { $0.accepted >= fifth && $0.accepted < 2 * fifth }
    let late = samples.filter { $0.accepted >= 4 * fifth }
    guard let early = early.map(\.bytes).max(), let late = late.map(\.bytes).max() else {
      return .nan
    }
    return Double(late) / Double(early)
  }
}
