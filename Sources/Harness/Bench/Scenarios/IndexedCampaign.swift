import LocalServices
import Model
import Stage
import Typesetting

/// A campaign to all of a large population, and one to a topic that all of it is in: when each begins, how fast it goes at its
/// beginning and its end, what memory it takes, and for how long a call of it keeps Redis from everybody else.
struct IndexedCampaign {
  let scenario: Scenario
  let with: Circumstances

  private static let topic = "everybody"
  /// The parts of a campaign whose rates are compared.
  private static let beginning = 0.01...0.03
  private static let end = 0.97...0.99

  func run() async throws -> [ScenarioResult] {
    let users = with.isFull ? BenchLimits.audienceUsersFull : BenchLimits.audienceUsers
    let population = Population(networks: [.apns], users: users)
    return try await BenchStage.with(with.programs, StageSettings()) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<users)
      let all = try await measure("all", #"{"all":true}"#, population, stage)
      for first in stride(from: 0, to: users, by: BenchLimits.subscriptionsPerCall) {
        with.progress.tick("\(scenario.name): \(FigureText.count(first)) users in the topic")
        let last = min(first + BenchLimits.subscriptionsPerCall, users)
        try await stage.session.subscribe(
          (first..<last).map { population.user($0) }, to: Self.topic)
      }
      let topic = try await measure(
        "topic", #"{"topic":"\#(Self.topic)"}"#, population, stage)
      return [all, topic]
    }
  }

  private func measure(
    _ name: String, _ audience: String, _ population: Population, _ stage: BenchStage
  ) async throws -> ScenarioResult {
    let users = population.users
    let campaign = Campaign(session: stage.session)
    let warmUp = Campaign.jobs(
      "warm-up-\(name)", population, Message(), users: 0..<BenchLimits.warmUpUsers)
    let job = Campaign.Job(id: name, bytes: Message().job(id: name, audience: audience))
    return try await stage.withWorker { worker in
      try await campaign.run(warmUp, accepting: BenchLimits.warmUpUsers)
      let accepted = try await stage.simulator.counters().accepted
      let before = try await stage.session.usedMemory()
      var most = before
      var points: [Campaign.Point] = []
      try await stage.watchCalls()
      with.progress.say("\(scenario.name): a campaign to \(FigureText.count(users)) users")
      let start = ContinuousClock.now
      func look() async throws {
        let count = try await stage.simulator.counters().accepted - accepted
        points.append(
          Campaign.Point(atSeconds: (ContinuousClock.now - start) / .seconds(1), accepted: count))
        most = max(most, try await stage.session.usedMemory())
        with.progress.tick("\(scenario.name): \(FigureText.count(count)) sent")
      }
      try await campaign.run([job], accepting: users, watch: look)
      var result = ScenarioResult("\(scenario.name)-\(name)", pushes: users, runs: 1)
      let calls = try await stage.session.functionCalls()
      let first = points.first { $0.accepted > 0 }?.atSeconds ?? .nan
      result.pushesPerSecond = points.last.map { Double($0.accepted) / $0.atSeconds }
      result.redisCallMs = calls.p99Ms
      result.redisMiB = Double(most - before) / 1_048_576
      result.residentMiBMax = Double(try worker.usage().residentBytesMax) / 1_048_576
      let rates = [Self.beginning, Self.end].map {
        Figure.text(Self.rate(points, of: users, in: $0) ?? .nan, decimals: 0)
      }
      result.note =
        "the first push \(Figure.text(first, decimals: 2)) s after the job at most; \(rates[0]) a second at 1 to 3 %, "
        + "\(rates[1]) at 97 to 99 %; \(calls.text)"
      result.check(scenario.budgets, others: [.firstPush: first])
      return result
    }
  }

  /// Pushes a second while this part of them was sent.
  static func rate(
    _ points: [Campaign.Point], of total: Int, in part: ClosedRange<Double>
  ) -> Double? {
    let within = points.filter { part.contains(Double($0.accepted) / Double(total)) }
    guard let first = within.first, let last = within.last, last.atSeconds > first.atSeconds else {
      return nil
    }
    return Double(last.accepted - first.accepted) / (last.atSeconds - first.atSeconds)
  }
}
