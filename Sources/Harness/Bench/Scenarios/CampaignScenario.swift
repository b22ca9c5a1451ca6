import LocalServices

/// Worker and yardstick in turn, so that a machine that slows down slows both.
struct CampaignScenario {
  let scenario: Scenario
  let shape: CampaignShape
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    let users = min(with.pushes, shape.pushesMax) / shape.devicesPerUser
    let population = shape.population(pushes: users * shape.devicesPerUser)
    return try await BenchStage.with(with.programs, shape.stage) { stage in
      let load = InstallationLoad(
        session: stage.session, population: population, progress: with.progress)
      try await load.run(0..<population.installations)
      let yardstick = try await Yardstick(
        stage: stage, population: population, message: shape.message)
      var requests: [Yardstick.Measurement] = []
      var deliveries: [Delivery.Measurement] = []
      for number in 1...with.runs {
        if number > 1, shape.deadPercent > 0 {
          // What the run before has uninstalled.
          try await load.run(0..<population.installations) { population.isDead($0) }
        }
        with.progress.say("\(scenario.name): h2load, \(number) of \(with.runs)")
        requests.append(
          try await yardstick.measure(requests: users * shape.devicesPerUser))
        with.progress.say("\(scenario.name): worker, \(number) of \(with.runs)")
        deliveries.append(try await deliver(number, users: users, population, stage))
        with.progress.note(line(number, requests[number - 1], deliveries[number - 1]))
      }
      return result(deliveries, requests, lanes: stage.settings.lanes)
    }
  }

  private func deliver(
    _ number: Int, users: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Delivery.Measurement {
    let warmUpUsers = users..<population.users
    let dead = { (users: Range<Int>) in
      population.installations(of: users).count { population.isDead($0) }
    }
    let all = { (users: Range<Int>) in population.installations(of: users).count }
    return try await Delivery(stage: stage).measure(
      warmUp: Campaign.jobs("warm-up-\(number)", population, shape.message, users: warmUpUsers),
      warmUpAccepted: all(warmUpUsers) - dead(warmUpUsers),
      Campaign.jobs("campaign-\(number)", population, shape.message, users: 0..<users),
      accepted: all(0..<users) - dead(0..<users), dead: dead(0..<users),
      samples: shape.answerMs > 0)
  }

  /// A run by itself, for whoever wonders how far to trust the medians.
  private func line(
    _ number: Int, _ request: Yardstick.Measurement, _ delivery: Delivery.Measurement
  ) -> String {
    let worker = delivery.workerCPUMicroseconds / Double(delivery.pushes)
    let rate = Double(delivery.pushes) / delivery.wallSeconds
    return "\(scenario.name) \(number): worker \(Figure.text(worker, decimals: 2)) µs, "
      + "\(Figure.text(rate, decimals: 0))/s; "
      + "h2load \(Figure.text(request.cpuMicrosecondsPerRequest, decimals: 2)) µs, "
      + "\(Figure.text(request.requestsPerSecond, decimals: 0))/s"
  }

  private func result(
    _ deliveries: [Delivery.Measurement], _ requests: [Yardstick.Measurement], lanes: Int
  ) -> ScenarioResult {
    var result = ScenarioResult(
      scenario.name, pushes: deliveries.first?.pushes ?? 0, runs: with.runs)
    result.take(deliveries, beside: requests)
    var others: [Budget.Measure: Double] = [:]
    if shape.answerMs > 0 {
      // A rate over seconds: without the start and the last answers.
      result.pushesPerSecond = Samples.median(deliveries.compactMap(\.steadyPushesPerSecond))
      let possible =
        Double(lanes * BenchLimits.connections * BenchLimits.streams) * 1_000
        / Double(shape.answerMs)
      others[.share] = result.pushesPerSecond.map { $0 / possible * 100 }
      result.note = "of \(Figure.text(possible, decimals: 0)) pushes/s that the streams allow"
    }
    result.check(scenario.budgets, others: others)
    return result
  }
}
