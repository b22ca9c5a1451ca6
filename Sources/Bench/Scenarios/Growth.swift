import Model

/// As many pushes out of ever larger populations: what the worker needs for one must not grow.
struct Growth {
  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> [ScenarioResult] {
    let sizes = with.isFull ? BenchLimits.growthSizesFull : BenchLimits.growthSizes
    let population = Population(networks: [.apns], users: sizes.last ?? 0)
    return try await Stage.with(with.programs, StageSettings()) { stage in
      var results: [ScenarioResult] = []
      var loaded = 0
      for size in sizes {
        let clock = ContinuousClock()
        let start = clock.now
        try await InstallationLoad(
          session: stage.session, population: population, progress: with.progress
        ).run(loaded..<size)
        loaded = size
        let seconds = (clock.now - start) / .seconds(1)
        var result = try await measure(size, population, stage)
        let memory = Double(try await stage.session.usedMemory()) / 1_048_576
        result.redisMiB = memory
        result.note =
          "\(Figure.grouped(size)) installations take \(Figure.text(memory, decimals: 0)) MiB of "
          + "Redis; filling up took \(Figure.text(seconds, decimals: 0)) s"
        results.append(result)
      }
      let first = results.first?.ratio ?? .nan
      let worst = results.compactMap(\.ratio).max() ?? .nan
      results[results.count - 1].check(scenario.budgets, others: [.growth: worst / first])
      return results
    }
  }

  private func measure(
    _ size: Int, _ population: Population, _ stage: Stage
  ) async throws -> ScenarioResult {
    let name = "\(scenario.name)-\(Self.name(size))"
    let yardstick = try await Yardstick(stage: stage, population: population, message: Message())
    var requests: [Yardstick.Measurement] = []
    var deliveries: [Delivery.Measurement] = []
    let jobUsers = sizesMin
    let jobCount = BenchLimits.growthPushes / jobUsers
    for number in 1...with.runs {
      with.progress.say("\(name): \(number) of \(with.runs)")
      requests.append(try await yardstick.measure(requests: jobCount * jobUsers))
      let warmUp = Campaign.jobs(
        "warm-up-\(name)-\(number)", population, Message(), users: 0..<BenchLimits.warmUpUsers)
      let jobs = (0..<jobCount).map { job in
        // Evenly over the whole population, and others in each job as far as there are others.
        let step = size / jobUsers
        let users = (0..<jobUsers).map { ($0 * step + job % step) % size }
        let id = "\(name)-\(number)-\(job)"
        return Campaign.Job(
          id: id, bytes: Message().job(id: id, population: population, users: users))
      }
      deliveries.append(
        try await Delivery(stage: stage).measure(
          warmUp: warmUp, warmUpAccepted: BenchLimits.warmUpUsers, jobs,
          accepted: jobCount * jobUsers))
    }
    var result = ScenarioResult(name, pushes: jobCount * jobUsers, runs: with.runs)
    result.take(deliveries, beside: requests)
    return result
  }

  /// Users of a job: all of the smallest population.
  private var sizesMin: Int { BenchLimits.growthSizes.first ?? 1 }

  /// `10k`, `1M`
  private static func name(_ size: Int) -> String {
    size >= 1_000_000 ? "\(size / 1_000_000)M" : "\(size / 1_000)k"
  }
}
