import LocalServices
import Model

/// A job with a pace: how far it is from the pace over any ten seconds, and what it costs a campaign of the same app
/// beside it. Two workers, so that they draw from one pace.
struct PacedJob {
  private static let rate = BenchLimits.pacedPerSecond
  private static let windowMs: Int64 = 10_000
  private static let stepMs: Int64 = 100

  let scenario: Scenario
  let with: Circumstances

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.keepsAcceptLog = true
    let paced = Self.rate * BenchLimits.pacedSeconds
    let population = Population(
      networks: [.apns], users: with.pushes + paced, markedFrom: with.pushes)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress
      ).run(0..<population.installations)
      let beside = try await stage.withWorkers(2) { try await compare(population, stage) }
      let accepted = try MarkedAccepts.read(stage.acceptLogFile).values.sorted()
      guard accepted.count == paced else {
        throw BenchError("\(accepted.count) pushes of the paced job were accepted, not \(paced)")
      }
      var result = ScenarioResult(scenario.name, pushes: population.installations, runs: 1)
      result.note = "\(Self.rate) pushes a second for \(BenchLimits.pacedSeconds) s"
      result.check(
        scenario.budgets,
        others: [.paceError: try Self.error(accepted), .campaignBesidePaced: beside])
      return result
    }
  }

  /// - Returns: how fast a campaign is beside the paced job, in its speed alone.
  private func compare(_ population: Population, _ stage: BenchStage) async throws -> Double {
    let campaign = Campaign(session: stage.session)
    _ = try await seconds("warm-up", population, campaign)
    let alone = try await seconds("alone", population, campaign)
    let users = with.pushes..<population.users
    var message = Message()
    message.pushesPerSecond = Self.rate
    let job = Campaign.Job(
      id: "paced", bytes: message.job(id: "paced", population: population, users: users))
    try await stage.session.enqueue(job.bytes)
    let beside = try await seconds("beside", population, campaign)
    with.progress.say("\(scenario.name): waiting for the paced job")
    try await campaign.finish([job], accepting: users.count)
    return alone / beside
  }

  /// How long a campaign to everybody else takes.
  private func seconds(
    _ name: String, _ population: Population, _ campaign: Campaign
  ) async throws -> Double {
    let start = ContinuousClock.now
    let jobs = Campaign.jobs(name, population, Message(), users: 0..<with.pushes)
    try await campaign.run(jobs, accepting: with.pushes)
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// The largest difference of any ten seconds from what the pace allows them, in percent of it.
  /// - Parameter accepted: when each push was, in order.
  static func error(_ accepted: [Int64]) throws(BenchError) -> Double {
    guard let start = accepted.first, let end = accepted.last, end - start >= windowMs else {
      throw BenchError("the paced job took less than \(windowMs) ms")
    }
    let expected = Double(rate) * Double(windowMs) / 1_000
    var (largest, first, behind) = (0.0, 0, 0)
    for windowStart in stride(from: start, through: end - windowMs, by: Int(stepMs)) {
      while accepted[first] < windowStart { first += 1 }
      while behind < accepted.count, accepted[behind] < windowStart + windowMs { behind += 1 }
      largest = max(largest, abs(Double(behind - first) / expected - 1) * 100)
    }
    return largest
  }
}
