import LocalServices
import Model
import Typesetting

/// Campaigns of as many pushes out of ever larger populations: what the worker needs for one must not grow.
///
/// Each population has a stage of its own, all at once, so that the sizes take turns: only what was
/// measured within seconds is set in relation.
struct Growth {
  private struct Site {
    let size: Int
    let name: String
    let stage: BenchStage
    let yardstick: Yardstick
    var result: ScenarioResult
    var requests: [Yardstick.Measurement] = []
    var deliveries: [Delivery.Measurement] = []
  }

  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> [ScenarioResult] {
    let sizes = with.isFull ? BenchLimits.growthSizesFull : BenchLimits.growthSizes
    return try await open(sizes[...], [])
  }

  /// Opens the stages one inside the other, and measures when all are there.
  private func open(_ sizes: ArraySlice<Int>, _ sites: [Site]) async throws -> [ScenarioResult] {
    guard let size = sizes.first else { return try await measure(sites) }
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await open(sizes.dropFirst(), sites + [try await site(size, stage)])
    }
  }

  private func site(_ size: Int, _ stage: BenchStage) async throws -> Site {
    let population = Population(networks: [.apns], users: size)
    let name = "\(scenario.name)-\(Self.name(size))"
    let clock = ContinuousClock()
    let start = clock.now
    with.progress.say("\(name): filling Redis")
    try await InstallationLoad(
      session: stage.session, population: population, progress: with.progress
    ).run(0..<size)
    let seconds = (clock.now - start) / .seconds(1)
    let memory = Double(try await stage.session.usedMemory()) / 1_048_576
    var result = ScenarioResult(name, pushes: BenchLimits.growthPushes, runs: with.runs)
    result.redisMiB = memory
    result.note =
      "\(FigureText.count(size)) installations take \(Figure.text(memory, decimals: 0)) MiB of "
      + "Redis, filled in \(Figure.text(seconds, decimals: 0)) s"
    let yardstick = try await Yardstick(stage: stage, population: population, message: Message())
    return Site(size: size, name: name, stage: stage, yardstick: yardstick, result: result)
  }

  private func measure(_ sites: [Site]) async throws -> [ScenarioResult] {
    var sites = sites
    for number in 1...with.runs {
      for index in sites.indices {
        with.progress.say("\(sites[index].name): \(number) of \(with.runs)")
        sites[index].requests.append(
          try await sites[index].yardstick.measure(requests: BenchLimits.growthPushes))
        sites[index].deliveries.append(try await deliver(number, sites[index]))
      }
    }
    for index in sites.indices {
      sites[index].result.take(sites[index].deliveries, beside: sites[index].requests)
      if index == sites.indices.last {
        let growth = Self.growth(sites.map(\.deliveries))
        sites[index].result.check(scenario.budgets, others: [.growth: growth])
      }
    }
    return sites.map(\.result)
  }

  /// The worst of the larger populations' CPU time beside the smallest's: of each the median over the rounds.
  private static func growth(_ deliveries: [[Delivery.Measurement]]) -> Double {
    guard let smallest = deliveries.first else { return .nan }
    let growths = deliveries.dropFirst().compactMap { larger in
      Samples.median(
        zip(larger, smallest).map { $0.workerCPUMicroseconds / $1.workerCPUMicroseconds })
    }
    return growths.max() ?? .nan
  }

  private func deliver(_ number: Int, _ site: Site) async throws -> Delivery.Measurement {
    let population = Population(networks: [.apns], users: site.size)
    // All users of the smallest population.
    let users = BenchLimits.growthSizes[0]
    let warmUp = Campaign.jobs(
      "warm-up-\(number)", population, Message(), users: 0..<BenchLimits.warmUpUsers)
    let jobs = (0..<BenchLimits.growthPushes / users).map { job in
      // Evenly over the whole population, and others in each job as far as there are others.
      let step = site.size / users
      let sample = (0..<users).map { $0 * step + job % step }
      let id = "campaign-\(number)-\(job)"
      return Campaign.Job(
        id: id, bytes: Message().job(id: id, population: population, users: sample))
    }
    return try await Delivery(stage: site.stage).measure(
      warmUp: warmUp, warmUpAccepted: BenchLimits.warmUpUsers, jobs,
      accepted: jobs.count * users)
  }

  /// `10k`, `1M`
  private static func name(_ size: Int) -> String {
    size >= 1_000_000 ? "\(size / 1_000_000)M" : "\(size / 1_000)k"
  }
}
