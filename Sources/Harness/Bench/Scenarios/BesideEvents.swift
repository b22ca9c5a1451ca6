import LocalServices
import Model
import Stage

/// A campaign beside high-priority jobs of one user each, and the same campaign alone: what each does to the other.
struct BesideEvents {
  private struct Measurement {
    var aloneSeconds: Double
    var besideSeconds: Double
    var starts: [Int: Int64]
  }

  let scenario: Scenario
  let with: Circumstances

  /// Jobs of one run, more than are enqueued until the campaign has ended.
  private static let jobs = BenchLimits.besidePerSecond * BenchLimits.besideSecondsMax

  private var users: Int {
    with.isFull
      ? BenchLimits.besidePushesFull : max(with.pushes, BenchLimits.besidePushesMin)
  }

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.keepsAcceptLog = true
    let population = Population(
      networks: [.apns], users: users + Self.jobs * with.runs, markedFrom: users)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      let measured = try await stage.withWorker { _ in
        let warmUp = Campaign.jobs(
          "warm-up", population, Message(), users: 0..<BenchLimits.warmUpUsers)
        try await Campaign(session: stage.session).run(
          warmUp, accepting: BenchLimits.warmUpUsers)
        var measured: [Measurement] = []
        for number in 0..<with.runs {
          with.progress.say("\(scenario.name): \(number + 1) of \(with.runs)")
          measured.append(try await measure(number, population, stage))
        }
        return measured
      }
      return try result(measured, population, stage)
    }
  }

  private func measure(
    _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Measurement {
    let alone = try await seconds("alone-\(number)", population, stage)
    let first = users + number * Self.jobs
    let producer = SteadyProducer(
      session: stage.session, population: population, perSecond: BenchLimits.besidePerSecond,
      priority: .high)
    let (beside, starts) = try await producer.run(first..<first + Self.jobs) {
      try await seconds("beside-\(number)", population, stage)
    }
    return Measurement(aloneSeconds: alone, besideSeconds: beside, starts: starts)
  }

  /// How long a campaign takes.
  private func seconds(
    _ name: String, _ population: Population, _ stage: BenchStage
  ) async throws -> Double {
    let jobs = Campaign.jobs(name, population, Message(), users: 0..<users)
    let start = ContinuousClock.now
    try await Campaign(session: stage.session).run(jobs, accepting: users)
    return (ContinuousClock.now - start) / .seconds(1)
  }

  private func result(
    _ measured: [Measurement], _ population: Population, _ stage: BenchStage
  ) throws -> ScenarioResult {
    let starts = measured.flatMap { Array($0.starts) }
    let samples = try MarkedAccepts.latencies(starts, population, in: stage.acceptLogFile)
    var result = ScenarioResult(scenario.name, pushes: users, runs: with.runs)
    result.latency = LatencyFigures(samples)
    result.pushesPerSecond = Samples.median(measured.map { Double(users) / $0.besideSeconds })
    let alone = Samples.median(measured.map { Double(users) / $0.aloneSeconds }) ?? .nan
    result.note =
      "\(samples.count) jobs of one user; alone the campaign has "
      + "\(Figure.text(alone, decimals: 0)) pushes a second"
    var others: [Budget.Measure: Double] = [:]
    others[.campaignBesideEvents] = Samples.median(
      measured.map { $0.aloneSeconds / $0.besideSeconds })
    result.check(scenario.budgets, others: others)
    return result
  }
}
