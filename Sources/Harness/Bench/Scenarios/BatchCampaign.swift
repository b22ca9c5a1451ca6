import LocalServices
import Model

/// A campaign to JPush, whose requests carry many pushes of one content, beside the same campaign to APNs, whose requests
/// carry one: what sharing a request saves.
///
/// Each has a stage of its own, both at once, so that they take turns on a machine that slows down.
struct BatchCampaign {
  private struct Site {
    let stage: BenchStage
    let population: Population
    var deliveries: [Delivery.Measurement] = []
  }

  let scenario: Scenario
  let with: Circumstances

  private var message: Message { Message() }
  private var users: Int { with.pushes }

  func run() async throws -> ScenarioResult {
    try await withSite(.apns) { apns in
      try await withSite(.jpush) { jpush in try await measure(jpush, beside: apns) }
    }
  }

  private func withSite(
    _ network: Network, _ body: (Site) async throws -> ScenarioResult
  ) async throws -> ScenarioResult {
    var shape = CampaignShape()
    shape.networks = [network]
    let population = shape.population(pushes: users)
    return try await BenchStage.with(with.programs, shape.stage) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      return try await body(Site(stage: stage, population: population))
    }
  }

  private func measure(_ jpush: Site, beside apns: Site) async throws -> ScenarioResult {
    var (jpush, apns) = (jpush, apns)
    let yardstick = try await Yardstick(
      stage: jpush.stage, population: jpush.population, message: message)
    var requests: [Yardstick.Measurement] = []
    for number in 1...with.runs {
      with.progress.say("\(scenario.name): h2load, \(number) of \(with.runs)")
      requests.append(try await yardstick.measure(requests: BenchLimits.batchRequests))
      with.progress.say("\(scenario.name): to APNs, \(number) of \(with.runs)")
      apns.deliveries.append(try await deliver(number, apns))
      with.progress.say("\(scenario.name): to JPush, \(number) of \(with.runs)")
      jpush.deliveries.append(try await deliver(number, jpush))
      with.progress.note(line(number, jpush.deliveries[number - 1], apns.deliveries[number - 1]))
    }
    return result(jpush.deliveries, beside: apns.deliveries, requests)
  }

  private func deliver(_ number: Int, _ site: Site) async throws -> Delivery.Measurement {
    try await Delivery(stage: site.stage).measure(
      warmUp: Campaign.jobs(
        "warm-up-\(number)", site.population, message, users: users..<site.population.users),
      warmUpAccepted: BenchLimits.warmUpUsers,
      Campaign.jobs("campaign-\(number)", site.population, message, users: 0..<users),
      accepted: users)
  }

  /// A run by itself, for whoever wonders how far to trust the medians.
  private func line(
    _ number: Int, _ jpush: Delivery.Measurement, _ apns: Delivery.Measurement
  ) -> String {
    "\(scenario.name) \(number): JPush \(Figure.text(Self.perPush(jpush), decimals: 2)) µs, "
      + "\(Figure.text(Double(jpush.pushes) / jpush.wallSeconds, decimals: 0))/s; "
      + "APNs \(Figure.text(Self.perPush(apns), decimals: 2)) µs"
  }

  private func result(
    _ deliveries: [Delivery.Measurement], beside apns: [Delivery.Measurement],
    _ requests: [Yardstick.Measurement]
  ) -> ScenarioResult {
    var result = ScenarioResult(scenario.name, pushes: users, runs: with.runs)
    result.take(deliveries)
    // Of a push: h2load's request carries as many as a worker's usually does. It is so little that a ratio to it says nothing.
    result.h2loadMicroseconds = Samples.median(
      requests.map { $0.cpuMicrosecondsPerRequest / Double(BenchLimits.batchPushes) })
    let besideAPNs = Samples.median(
      zip(deliveries, apns).map { Self.perPush($0) / Self.perPush($1) })
    let perRequest = Samples.median(deliveries.map { Double($0.pushes) / Double($0.requests) })
    result.note =
      "\(Figure.text(perRequest ?? .nan, decimals: 0)) pushes a request; beside it a push to APNs "
      + "needed \(Figure.text(Samples.median(apns.map(Self.perPush)) ?? .nan, decimals: 2)) µs"
    result.check(scenario.budgets, others: besideAPNs.map { [.besideAPNs: $0] } ?? [:])
    return result
  }

  private static func perPush(_ delivery: Delivery.Measurement) -> Double {
    delivery.workerCPUMicroseconds / Double(delivery.pushes)
  }
}
