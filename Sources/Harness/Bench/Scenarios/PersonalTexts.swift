import LocalServices
import Model

/// A campaign whose receivers have a name and a language each, beside the same with one text for all: what the worker
/// needs more for it.
struct PersonalTexts {
  private static let names = "names"

  let scenario: Scenario
  let with: Circumstances

  /// A run is short, and the difference small beside what the machine makes of it.
  private var runs: Int { max(with.runs, BenchLimits.personalRunsMin) }

  func run() async throws -> [ScenarioResult] {
    let users = min(with.pushes, BenchLimits.personalPushesMax)
    var population = Population(networks: [.apns], users: users + BenchLimits.warmUpUsers)
    population.languages = Message.languages
    return try await BenchStage.with(with.programs, StageSettings()) { [population] stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      try await fillNames(population, stage)
      var personal = Message()
      personal.names = Self.names
      let yardstick = try await Yardstick(
        stage: stage, population: population, message: Message())
      var requests: [Yardstick.Measurement] = []
      var plain: [Delivery.Measurement] = []
      var filled: [Delivery.Measurement] = []
      for number in 1...runs {
        with.progress.say("\(scenario.name): \(number) of \(runs)")
        requests.append(try await yardstick.measure(requests: users))
        plain.append(try await deliver("plain-\(number)", Message(), population, stage))
        filled.append(try await deliver("filled-\(number)", personal, population, stage))
      }
      return results(plain, filled, requests)
    }
  }

  private func fillNames(_ population: Population, _ stage: BenchStage) async throws {
    with.progress.say("\(scenario.name): names")
    let step = BenchLimits.namesPerCommand
    for first in stride(from: 0, to: population.users, by: step) {
      let users = first..<min(first + step, population.users)
      try await stage.session.set(
        users.map { (population.user($0), #"{"name":"Receiver \#($0)"}"#) }, in: Self.names)
    }
  }

  private func deliver(
    _ name: String, _ message: Message, _ population: Population, _ stage: BenchStage
  ) async throws -> Delivery.Measurement {
    let users = population.users - BenchLimits.warmUpUsers
    return try await Delivery(stage: stage).measure(
      warmUp: Campaign.jobs(
        "warm-up-\(name)", population, message, users: users..<population.users),
      warmUpAccepted: BenchLimits.warmUpUsers,
      Campaign.jobs(name, population, message, users: 0..<users), accepted: users)
  }

  private func results(
    _ plain: [Delivery.Measurement], _ filled: [Delivery.Measurement],
    _ requests: [Yardstick.Measurement]
  ) -> [ScenarioResult] {
    let pushes = plain.first?.pushes ?? 0
    var one = ScenarioResult("\(scenario.name)-none", pushes: pushes, runs: runs)
    one.take(plain, beside: requests)
    var other = ScenarioResult(scenario.name, pushes: pushes, runs: runs)
    other.take(filled, beside: requests)
    let ratio = Samples.median(
      zip(filled, plain).map { $0.workerCPUMicroseconds / $1.workerCPUMicroseconds })
    other.check(scenario.budgets, others: [.besidePlain: ratio ?? .nan])
    return [one, other]
  }
}
