import LocalServices
import Model

/// Runs scenarios one after the other.
struct Bench {
  let programs: Programs
  let count: Int
  let repeats: Int
  let progress: Progress

  func run(_ scenario: Scenario) async throws -> ScenarioResult {
    switch scenario {
    case .apns, .fcm: try await campaign(scenario)
    case .answerTime: try await answerTime()
    case .latency: try await latency()
    }
  }

  /// Worker and yardstick in turn, so that a machine that slows down slows both.
  private func campaign(_ scenario: Scenario) async throws -> ScenarioResult {
    let population = Population(network: scenario.network, count: count)
    return try await Stage.with(programs, network: scenario.network) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: progress
      ).run()
      let yardstick = try await Yardstick(stage: stage, population: population)
      let delivery = Delivery(stage: stage, population: population)
      var requests: [Yardstick.Measurement] = []
      var deliveries: [Delivery.Measurement] = []
      for number in 1...repeats {
        progress.say("\(scenario.rawValue): h2load, \(number) of \(repeats)")
        requests.append(try await yardstick.measure(requests: count))
        progress.say("\(scenario.rawValue): worker, \(number) of \(repeats)")
        deliveries.append(try await delivery.measure(number: number, users: count))
        progress.note(Self.line(number, requests[number - 1], deliveries[number - 1]))
      }
      return result(scenario, deliveries, requests)
    }
  }

  /// A repeat by itself, for whoever wonders how far to trust the medians.
  private static func line(
    _ number: Int, _ request: Yardstick.Measurement, _ delivery: Delivery.Measurement
  ) -> String {
    let worker = delivery.workerCPUMicroseconds / Double(delivery.pushes)
    let rate = Double(delivery.pushes) / delivery.wallSeconds
    return "\(number): worker \(Figure.text(worker, decimals: 2)) µs, "
      + "\(Figure.text(rate, decimals: 0))/s; "
      + "h2load \(Figure.text(request.cpuMicrosecondsPerRequest, decimals: 2)) µs, "
      + "\(Figure.text(request.requestsPerSecond, decimals: 0))/s"
  }

  private func result(
    _ scenario: Scenario, _ deliveries: [Delivery.Measurement],
    _ requests: [Yardstick.Measurement]
  ) -> ScenarioResult {
    var result = ScenarioResult(scenario, pushes: count, repeats: repeats)
    result.take(deliveries)
    result.h2loadMicroseconds = Samples.median(requests.map(\.cpuMicrosecondsPerRequest))
    result.ratios = zip(deliveries, requests).map { delivery, request in
      delivery.workerCPUMicroseconds / Double(delivery.pushes) / request.cpuMicrosecondsPerRequest
    }
    let ratio = Samples.median(result.ratios) ?? .nan
    result.ratio = ratio
    let ratioText = "\(scenario.rawValue): worker CPU per push beside h2load's per request"
    if let required = scenario.ratioMax.required {
      result.budgets.append(
        Budget(ratioText, ratio, .atMost, required, unit: " x", isRequired: true))
    }
    result.budgets += [
      Budget(ratioText, ratio, .atMost, scenario.ratioMax.goal, unit: " x"),
      Budget(
        "\(scenario.rawValue): worker memory", result.residentMiBMax ?? .nan, .atMost, 100,
        unit: " MiB", isRequired: scenario == .apns),
      Budget(
        "\(scenario.rawValue): Redis commands per push", result.redisCommands ?? .nan, .atMost, 2,
        unit: ""),
    ]
    return result
  }

  /// One long run rather than many: its figure is a rate over seconds, not CPU.
  private func answerTime() async throws -> ScenarioResult {
    let pushes = min(count, BenchLimits.answerTimePushesMax)
    let population = Population(network: .apns, count: pushes)
    let delayMs = BenchLimits.answerMs
    return try await Stage.with(programs, network: .apns, delayMs: delayMs) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: progress
      ).run()
      progress.say("answer-time: \(Figure.grouped(pushes)) pushes, answers after \(delayMs) ms")
      let delivery = Delivery(stage: stage, population: population)
      let measured = try await delivery.measure(number: 1, users: pushes, samples: true)
      var result = ScenarioResult(.answerTime, pushes: pushes, repeats: 1)
      result.take([measured])
      result.pushesPerSecond = measured.steadyPushesPerSecond
      let possible =
        Double(BenchLimits.connections * BenchLimits.streams) * 1_000 / Double(delayMs)
      result.budgets = [
        Budget(
          "answer-time: pushes per second beside connections x streams / answer time",
          (measured.steadyPushesPerSecond ?? .nan) / possible * 100, .atLeast, 90, unit: " %")
      ]
      return result
    }
  }

  private func latency() async throws -> ScenarioResult {
    try await Stage.with(programs, network: .apns, keepsAcceptLog: true) { stage in
      let population = Population(network: .apns, count: BenchLimits.warmUpUsers)
      try await InstallationLoad(
        session: stage.session, population: population, progress: progress
      ).run()
      progress.say("latency: \(BenchLimits.latencyJobs) jobs of one user")
      let samples = try await Latency(stage: stage, population: population).measure()
      var result = ScenarioResult(.latency, pushes: samples.count, repeats: 1)
      result.budgets = [
        Budget(
          "latency: enqueue to network, idle, half of the jobs within",
          Samples.percentile(samples, 0.5) ?? .nan, .atMost, 2, unit: " ms"),
        Budget(
          "latency: enqueue to network, idle, 99 % of the jobs within",
          Samples.percentile(samples, 0.99) ?? .nan, .atMost, 10, unit: " ms"),
      ]
      return result
    }
  }
}
