import LocalServices
import Model
import Stage

/// A campaign to a network some of whose answers come late or never, beside the same network without; and what becomes of another
/// app's pushes meanwhile. The slow ones are drawn at random, the same in each run of a program.
struct SlowAnswers {
  private struct Run {
    /// From enqueueing until `BenchLimits.slowTo` of the campaign is accepted.
    var seconds: Double
    /// Latencies of the other app's pushes, in ms.
    var probes: [Double]
  }

  let scenario: Scenario
  let with: Circumstances

  private static let users = BenchLimits.slowUsers
  private static let probesMax =
    BenchLimits.slowSecondsMax * 1_000 / Int(BenchLimits.slowProbeMs)
  private static let troubles: [(NetworkTrouble, Budget)] = [
    (.late, .lateAnswers), (.silent, .missingAnswers), (.lateGoAway, .lateAnswersGoAway),
  ]

  func run() async throws -> [ScenarioResult] {
    var settings = StageSettings()
    settings.keepsAcceptLog = true
    settings.apps = 2
    settings.answerMs = BenchLimits.slowAnswerMs
    let campaigns = with.runs * (Self.troubles.count + 1)
    let population = Population(
      networks: [.apns], users: Self.users + Self.probesMax * campaigns, markedFrom: Self.users)
    return try await BenchStage.with(with.programs, settings) { stage in
      let load = InstallationLoad(
        session: stage.session, population: population, progress: with.progress,
        app: { Population.app($0 < Self.users ? 0 : 1) })
      try await load.run(0..<population.installations)
      return try await run(population, stage)
    }
  }

  private func run(
    _ population: Population, _ stage: BenchStage
  ) async throws -> [ScenarioResult] {
    var without: [Run] = []
    var troubled = [[Run]](repeating: [], count: Self.troubles.count)
    var campaigns = 0
    func measure(_ trouble: NetworkTrouble) async throws -> Run {
      campaigns += 1
      return try await self.run(trouble, campaigns, population, stage)
    }
    for _ in 0..<with.runs {
      without.append(try await measure(.none))
      for (index, (trouble, _)) in Self.troubles.enumerated() {
        troubled[index].append(try await measure(trouble))
      }
    }
    let usual = result(.none, without)
    let rows = zip(Self.troubles, troubled).map { kind, runs in
      var result = result(kind.0, runs)
      let ratios = zip(without, runs).map { $0.seconds / $1.seconds }
      let (p99, usualP99) = (result.latency?.p99Ms ?? .nan, usual.latency?.p99Ms ?? .nan)
      result.check(
        [kind.1, .besideSlowRatio, .besideSlowMs],
        others: [
          kind.1.measure: Samples.median(ratios) ?? .nan, .besideSlowRatio: p99 / usualP99,
          .besideSlowMs: p99 - usualP99,
        ])
      return result
    }
    return [usual] + rows
  }

  private func result(_ trouble: NetworkTrouble, _ runs: [Run]) -> ScenarioResult {
    var result = ScenarioResult(
      "\(scenario.name)-\(trouble.name)", pushes: Self.users, runs: with.runs)
    result.pushesPerSecond = Samples.median(
      runs.map { Double(Self.users) * BenchLimits.slowTo / $0.seconds })
    result.latency = LatencyFigures(runs.flatMap(\.probes))
    return result
  }

  private func run(
    _ trouble: NetworkTrouble, _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Run {
    with.progress.say("\(scenario.name): \(trouble.name), \(number)")
    let run = try await stage.withWorker { _ in
      let warmUp = Campaign.jobs(
        "warm-up-\(number)", population, Message(), users: 0..<BenchLimits.warmUpUsers)
      try await Campaign(session: stage.session).run(warmUp, accepting: BenchLimits.warmUpUsers)
      try await follow(trouble, stage)
      let run = try await campaign(number, population, stage)
      // The rest is not what is measured, and must not be in the way of the next campaign.
      try await follow(.none, stage)
      try await Campaign(session: stage.session).end(Self.jobs(number, population))
      return run
    }
    let accepted = try MarkedAccepts.latencies(
      run.starts, population, in: stage.acceptLogFile)
    return Run(seconds: run.seconds, probes: accepted)
  }

  private static func jobs(_ number: Int, _ population: Population) -> [Campaign.Job] {
    Campaign.jobs("campaign-\(number)", population, Message(), users: 0..<users)
  }

  /// - Returns: how long it took, and when each of the other app's jobs was enqueued.
  private func campaign(
    _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> (seconds: Double, starts: [Int: Int64]) {
    let (clock, before) = (ContinuousClock(), try await stage.simulator.counters().accepted)
    var starts: [Int: Int64] = [:]
    let start = clock.now
    for job in Self.jobs(number, population) { try await stage.session.enqueue(job.bytes) }
    let wanted = before + Int(Double(Self.users) * BenchLimits.slowTo)
    var nextProbe = start
    while try await stage.simulator.counters().accepted < wanted + starts.count {
      let elapsed = clock.now - start
      guard elapsed < .seconds(BenchLimits.slowSecondsMax) else { break }
      if clock.now >= nextProbe, starts.count < Self.probesMax {
        nextProbe += .milliseconds(BenchLimits.slowProbeMs)
        let user = Self.users + (number - 1) * Self.probesMax + starts.count
        starts[user] = EpochClock.nowMs()
        try await stage.session.enqueue(
          Message().job(
            id: "probe-\(user)", app: Population.app(1), population: population,
            users: user..<user + 1))
      }
      try await clock.sleep(for: .milliseconds(BenchLimits.slowPollMs))
    }
    return ((clock.now - start) / .seconds(1), starts)
  }

  private func follow(_ trouble: NetworkTrouble, _ stage: BenchStage) async throws {
    var settings = stage.settings
    settings.trouble = trouble
    try await stage.simulator.follow(settings.script)
  }
}
