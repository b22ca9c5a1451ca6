import LocalServices
import Model
import Stage
import Typesetting

/// A campaign half of whose tokens are dead, each of which is uninstalled: for how long a call keeps Redis from everybody else.
struct HalfDead {
  let scenario: Scenario
  let with: Circumstances

  private static let percent = 50

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.hasDeadTokens = true
    let population = Population(networks: [.apns], users: with.pushes, deadPercent: Self.percent)
    return try await BenchStage.with(with.programs, settings) { stage in
      let load = InstallationLoad(
        session: stage.session, population: population, progress: with.progress)
      try await load.run(0..<population.installations)
      var calls: [FunctionCalls] = []
      for number in 1...with.runs {
        if number > 1 {
          // What the run before has uninstalled.
          try await load.run(0..<population.installations) { population.isDead($0) }
        }
        with.progress.say("\(scenario.name): \(number) of \(with.runs)")
        calls.append(try await measure(number, population, stage))
      }
      var result = ScenarioResult(scenario.name, pushes: with.pushes, runs: with.runs)
      result.redisCallMs = calls.map(\.p99Ms).max()
      result.note = calls.map(\.text).joined(separator: "; ")
      var others: [Budget.Measure: Double] = [:]
      others[.longestCall] = FunctionCalls.longestMs(calls)
      result.check(scenario.budgets, others: others)
      return result
    }
  }

  private func measure(
    _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> FunctionCalls {
    let living = (0..<population.installations).count { !population.isDead($0) }
    let jobs = Campaign.jobs(
      "campaign-\(number)", population, Message(), users: 0..<population.users)
    return try await stage.withWorker { _ in
      try await stage.watchCalls()
      try await Campaign(session: stage.session).run(jobs, accepting: living)
      for job in jobs {
        guard let record = try await stage.session.record(job.id),
          record.counts.uninstalled * 100 == record.total * Self.percent
        else { throw BenchError("not every dead token of job \(job.id) was uninstalled") }
      }
      return try await stage.session.functionCalls()
    }
  }
}
