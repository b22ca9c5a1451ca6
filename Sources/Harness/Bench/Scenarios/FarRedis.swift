import LocalServices
import Model
import Stage

/// The part of the usual rate that workers reach with a Redis some milliseconds away. Both are behind the same proxy,
/// so that only the distance differs.
struct FarRedis {
  private enum Load: String, CaseIterable { case ofOne = "1", ofHundred = "100", campaign }

  private struct Setting: Hashable {
    let awayMs: UInt64
    let load: Load
  }

  let scenario: Scenario
  let with: Circumstances

  private static let near = Load.allCases.map { Setting(awayMs: BenchLimits.nearMs, load: $0) }
  private static let settings =
    Load.allCases.map { Setting(awayMs: 0, load: $0) } + near
    + [Setting(awayMs: BenchLimits.farMs, load: .campaign)]

  func run() async throws -> [ScenarioResult] {
    var settings = StageSettings()
    settings.hasRedisProxy = true
    let population = Population(networks: [.apns], users: with.pushes)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      return try await stage.withWorker { worker in
        let warmUp = Campaign.jobs(
          "warm-up", population, Message(), users: 0..<BenchLimits.warmUpUsers)
        try await Campaign(session: stage.session).run(
          warmUp, accepting: BenchLimits.warmUpUsers)
        let backlog = Backlog(stage: stage, worker: worker)
        var rates: [Setting: [Double]] = [:]
        for number in 1...with.runs {
          for setting in Self.settings {
            with.progress.say(
              "\(scenario.name): \(setting.load.rawValue), \(setting.awayMs) ms, \(number) of \(with.runs)"
            )
            await stage.setRedis(awayMs: setting.awayMs)
            try await settle(
              "\(setting.load.rawValue)-\(setting.awayMs)-\(number)", population, stage)
            let measured = try await backlog.measure(
              jobs(setting, number, population), pushes: pushes(setting.load),
              secondsMax: BenchLimits.distanceSeconds
            ) { await stage.setRedis(awayMs: 0) }
            rates[setting, default: []].append(Double(measured.pushes) / measured.wallSeconds)
          }
        }
        return Self.settings.map { result($0, rates) }
      }
    }
  }

  /// Has the worker find out how far away Redis is: where it runs, that does not change from one moment to the next.
  private func settle(
    _ name: String, _ population: Population, _ stage: BenchStage
  ) async throws {
    let end = ContinuousClock.now + .milliseconds(BenchLimits.distanceSettleMs)
    var number = 0
    while ContinuousClock.now < end {
      number += 1
      let jobs = Campaign.jobs(
        "settle-\(name)-\(number)", population, Message(), users: 0..<BenchLimits.warmUpUsers)
      try await Campaign(session: stage.session).run(jobs, accepting: BenchLimits.warmUpUsers)
    }
  }

  /// Users of a job and the number of jobs.
  private func shape(_ load: Load) -> (users: Int, jobs: Int) {
    switch load {
    case .ofOne: (1, BenchLimits.distanceJobs)
    case .ofHundred: (100, BenchLimits.distanceJobsOfHundred)
    case .campaign: (with.pushes, 1)
    }
  }

  private func pushes(_ load: Load) -> Int { shape(load).users * shape(load).jobs }

  private func jobs(
    _ setting: Setting, _ number: Int, _ population: Population
  ) -> [Campaign.Job] {
    let name = "\(setting.load.rawValue)-\(setting.awayMs)-\(number)"
    let (users, count) = shape(setting.load)
    guard setting.load != .campaign else {
      return Campaign.jobs(name, population, Message(), users: 0..<users)
    }
    return (0..<count).map { job in
      let (id, first) = ("\(name)-\(job)", job * users % (population.users - users))
      return Campaign.Job(
        id: id,
        bytes: Message().job(id: id, population: population, users: first..<first + users))
    }
  }

  private func result(_ setting: Setting, _ rates: [Setting: [Double]]) -> ScenarioResult {
    let measured = rates[setting] ?? []
    var result = ScenarioResult(
      "\(scenario.name)-\(setting.awayMs)ms-\(setting.load.rawValue)",
      pushes: pushes(setting.load), runs: with.runs)
    result.pushesPerSecond = Samples.median(measured)
    guard setting.awayMs > 0 else { return result }
    let without = rates[Setting(awayMs: 0, load: setting.load)] ?? []
    var others: [Budget.Measure: Double] = [:]
    others[.besideNoDistance] = Samples.median(zip(measured, without).map { $0 / $1 })
    result.check(
      [setting.awayMs == BenchLimits.nearMs ? .nearRedis : .farRedis], others: others)
    return result
  }
}
