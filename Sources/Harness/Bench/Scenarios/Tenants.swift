import LocalServices
import Model
import Stage
import Typesetting

/// A worker for many apps with one push to each now and then: its memory, its connections, and how long it takes until
/// each app's first push is accepted.
struct Tenants {
  private struct Moment {
    var usage: ProcessUsage
    var connections: Int
    var descriptors: Int

    var mebibytes: String { Figure.text(Double(usage.residentBytes) / 1_048_576, decimals: 0) }
  }

  private struct Measurement {
    /// Until the first push of all is accepted.
    var startSeconds: Double
    var before: Moment
    var firstSeconds: Double
    var after: Moment
    var secondSeconds: Double
    var end: Moment

    var connectionKiB: Double {
      Double(after.usage.residentBytes - before.usage.residentBytes) / 1_024
        / Double(max(1, after.connections - before.connections))
    }
  }

  let scenario: Scenario
  let with: Circumstances

  private static let apps = BenchLimits.tenants

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.lanes = BenchLimits.tenantsLanes
    settings.apps = Self.apps
    let population = Population(networks: [.apns], users: Self.apps)
    return try await BenchStage.with(with.programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress,
        app: { Population.app($0) }
      ).run(0..<population.installations)
      var measured: [Measurement] = []
      for number in 1...with.runs {
        with.progress.say("\(scenario.name): \(number) of \(with.runs)")
        measured.append(try await measure(number, population, stage))
      }
      return result(measured)
    }
  }

  private func measure(
    _ number: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Measurement {
    try await stage.withWorker { worker in
      let clock = ContinuousClock()
      let start = clock.now
      _ = try await round("\(number)-warm-up", apps: 1, population, stage)
      let startSeconds = (clock.now - start) / .seconds(1)
      try await pause(BenchLimits.restMs)
      let before = try await moment(worker, stage)
      let first = try await round("\(number)-first", apps: Self.apps, population, stage)
      try await pause(BenchLimits.tenantsPauseMs)
      let after = try await moment(worker, stage)
      let second = try await round("\(number)-second", apps: Self.apps, population, stage)
      try await pause(BenchLimits.restMs)
      return Measurement(
        startSeconds: startSeconds, before: before, firstSeconds: first, after: after,
        secondSeconds: second,
        end: try await moment(worker, stage))
    }
  }

  private func pause(_ ms: UInt64) async throws {
    try await ContinuousClock().sleep(for: .milliseconds(ms))
  }

  private func moment(_ worker: WorkerProcess, _ stage: BenchStage) async throws -> Moment {
    Moment(
      usage: try worker.usage(),
      connections: try await stage.simulator.counters().connectionsOpen,
      descriptors: ProcessUsage.descriptors(of: worker.pid))
  }

  /// A job for the only user of each of so many apps. - Returns: the seconds from the first job's enqueueing to the last push's acceptance.
  private func round(
    _ name: String, apps: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> Double {
    let jobs = (0..<apps).map { number in
      Message().job(
        id: "\(name)-\(number)", app: Population.app(number), population: population,
        users: number..<number + 1)
    }
    let expected = try await stage.simulator.counters().accepted + apps
    let clock = ContinuousClock()
    let start = clock.now
    for job in jobs { try await stage.session.enqueue(job) }
    while try await stage.simulator.counters().accepted < expected {
      if let refusal = try await stage.session.refusal() {
        throw BenchError("a job was not delivered: \(refusal)")
      }
      guard clock.now - start < .milliseconds(BenchLimits.campaignMsMax) else {
        throw BenchError("a round took more than \(BenchLimits.campaignMsMax / 1_000) s")
      }
      try await pause(BenchLimits.pollMs)
    }
    return (clock.now - start) / .seconds(1)
  }

  private func result(_ runs: [Measurement]) -> ScenarioResult {
    var result = ScenarioResult(scenario.name, pushes: Self.apps, runs: with.runs)
    result.residentMiBMax = runs.map { Double($0.end.usage.residentBytesMax) / 1_048_576 }.max()
    let last = runs[runs.count - 1]
    result.note =
      "started in \(Figure.text(last.startSeconds, decimals: 2)) s; \(last.before.mebibytes) MiB before the round, \(last.after.mebibytes) after the first round and "
      + "\(last.end.mebibytes) after the second, which took "
      + "\(Figure.text(last.secondSeconds, decimals: 2)) s; "
      + "\(FigureText.count(last.after.connections)) connections and "
      + "\(FigureText.count(last.after.descriptors)) descriptors after the first, "
      + "\(FigureText.count(last.end.connections)) connections after the second"
    result.check(
      scenario.budgets,
      others: [
        .connectionKiB: Samples.median(runs.map(\.connectionKiB)) ?? .nan,
        .firstRound: Samples.median(runs.map(\.firstSeconds)) ?? .nan,
      ])
    return result
  }
}
