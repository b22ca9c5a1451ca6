import LocalServices
import Model
import Typesetting

/// The memory that a running campaign to a key of users needs in Redis beside that key and the installations. Also for
/// how long a call of it keeps Redis from everybody else.
struct AudienceMemory {
  private static let usersKey = "bench:audience"
  private static let batch = 5_000

  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    let users = with.isFull ? BenchLimits.audienceUsersFull : BenchLimits.audienceUsers
    // Most users of an audience have no installation here: that keeps the set-up short, and what a
    // campaign needs in Redis does not depend on it.
    let installed = min(users, BenchLimits.audienceInstallations)
    let population = Population(networks: [.apns], users: users)
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<installed)
      for first in stride(from: 0, to: users, by: Self.batch) {
        with.progress.tick("\(scenario.name): \(FigureText.count(first)) users in the audience")
        let names = (first..<min(first + Self.batch, users)).map { population.user($0) }
        try await stage.session.add(names, to: Self.usersKey)
      }
      with.progress.say("\(scenario.name): a campaign to \(FigureText.count(users)) users")
      return try await measure(users, installed, population, stage)
    }
  }

  private func measure(
    _ users: Int, _ installed: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> ScenarioResult {
    let campaign = Campaign(session: stage.session)
    let warmUp = Campaign.jobs(
      "warm-up", population, Message(), users: 0..<BenchLimits.warmUpUsers)
    let id = "campaign"
    let job = Campaign.Job(id: id, bytes: Message().job(id: id, usersKey: Self.usersKey))
    return try await stage.withWorker { _ in
      try await campaign.run(warmUp, accepting: BenchLimits.warmUpUsers)
      let before = try await stage.session.usedMemory()
      var most = before
      try await stage.watchCalls()
      try await campaign.run([job], accepting: installed) {
        most = max(most, try await stage.session.usedMemory())
      }
      var result = ScenarioResult(scenario.name, pushes: installed, runs: 1)
      let calls = try await stage.session.functionCalls()
      result.redisCallMs = calls.p99Ms
      result.redisMiB = Double(most - before) / 1_048_576
      result.note =
        "\(FigureText.count(users)) users in the key, one in "
        + "\(users / installed) with an installation; \(calls.text)"
      result.check(scenario.budgets)
      return result
    }
  }
}
