import LocalServices
import Model
import Stage
import Typesetting

/// A worker with as many apps in Redis as there may be: its memory, how long it takes from its start to its first push, and how
/// long from `pushpool app add` to the first push of the app that it adds.
struct AppsInRedis {
  private struct Measurement {
    /// From the start of the process to the acceptance of a push that waits for it.
    var startSeconds: Double
    var started: ProcessUsage
    /// From the start of each `app add` to the acceptance of the app's first push, and to the command's end.
    var added: [(firstPush: Double, command: Double)]
    var end: ProcessUsage
  }

  let scenario: Scenario
  let with: Circumstances

  /// The app that is sent for from the first, by its number.
  private static let first = 1
  /// The numbers of those that are added meanwhile. With the others they are as many as there may be.
  private static let added =
    BenchLimits.appsInRedis - BenchLimits.appsAdded + 1..<BenchLimits.appsInRedis + 1

  func run() async throws -> ScenarioResult {
    var settings = StageSettings()
    settings.lanes = BenchLimits.tenantsLanes
    settings.tenantsSentFor = 1 + Self.added.count
    let population = Population(networks: [.apns], users: Self.added.upperBound)
    return try await BenchStage.with(with.programs, settings) { stage in
      guard let shelf = stage.tenants else { throw BenchError("the stage has no apps in Redis") }
      try await InstallationLoad(
        session: stage.session, population: population, progress: with.progress,
        app: { Population.app($0) }
      ).run(0..<population.installations) { $0 == Self.first || Self.added.contains($0) }
      try await stage.session.put([try shelf.record(Self.first, signedBy: 0)])
      let alone = try await measure("alone", population, stage, shelf)
      let keptBefore = try await stage.session.usedMemory()
      try await fill(stage, shelf)
      let kept = try await stage.session.usedMemory() - keptBefore
      var measured: [Measurement] = []
      for number in 1...with.runs {
        with.progress.say("\(scenario.name): \(number) of \(with.runs)")
        measured.append(try await measure("\(number)", population, stage, shelf))
      }
      return result(measured, alone: alone, keptBytes: kept)
    }
  }

  /// Puts the apps there that nothing is sent for.
  private func fill(_ stage: BenchStage, _ shelf: TenantShelf) async throws {
    let numbers = Self.first + 1..<Self.added.lowerBound
    for from in stride(
      from: numbers.lowerBound, to: numbers.upperBound, by: BenchLimits.appsPutAtOnce)
    {
      let some = from..<min(from + BenchLimits.appsPutAtOnce, numbers.upperBound)
      try await stage.session.put(try some.map { try shelf.record($0) })
      with.progress.tick(
        "putting \(FigureText.count(some.upperBound)) of \(FigureText.count(numbers.upperBound)) apps"
      )
    }
  }

  private func measure(
    _ name: String, _ population: Population, _ stage: BenchStage, _ shelf: TenantShelf
  ) async throws -> Measurement {
    let expected = try await stage.simulator.counters().accepted + 1
    try await stage.session.enqueue(job("\(name)-start", Self.first, population))
    let clock = ContinuousClock()
    let start = clock.now
    return try await stage.withWorker { worker in
      try await accepted(expected, since: start, stage)
      let startSeconds = (clock.now - start) / .seconds(1)
      try await clock.sleep(for: .milliseconds(BenchLimits.restMs))
      let started = try worker.usage()
      var added: [(firstPush: Double, command: Double)] = []
      for (key, number) in Self.added.enumerated() {
        added.append(try await add(number, signedBy: 1 + key, name, population, stage, shelf))
      }
      let end = try worker.usage()
      try await stage.session.removeApps(Self.added.map { Population.app($0) })
      return Measurement(startSeconds: startSeconds, started: started, added: added, end: end)
    }
  }

  private func add(
    _ number: Int, signedBy key: Int, _ name: String, _ population: Population,
    _ stage: BenchStage, _ shelf: TenantShelf
  ) async throws -> (firstPush: Double, command: Double) {
    let file = try shelf.write(number, signedBy: key)
    let expected = try await stage.simulator.counters().accepted + 1
    let clock = ContinuousClock()
    let start = clock.now
    let command = try ChildProcess(
      stage.programs.pushpool, ["app", "add", file, "--config", stage.configurationFile],
      environment: [:], output: .discard)
    guard await command.waitForExit(timeoutMs: BenchLimits.startMsMax) == .code(0) else {
      throw BenchError("pushpool app add failed; its own message is above")
    }
    let commandSeconds = (clock.now - start) / .seconds(1)
    try await stage.session.enqueue(job("\(name)-added-\(number)", number, population))
    try await accepted(expected, since: start, stage)
    return ((clock.now - start) / .seconds(1), commandSeconds)
  }

  /// A job for the only user of an app.
  private func job(_ id: String, _ number: Int, _ population: Population) -> [UInt8] {
    Message().job(
      id: id, app: Population.app(number), population: population, users: number..<number + 1)
  }

  /// Returns when the network has accepted so many pushes.
  private func accepted(
    _ expected: Int, since start: ContinuousClock.Instant, _ stage: BenchStage
  ) async throws {
    let clock = ContinuousClock()
    while try await stage.simulator.counters().accepted < expected {
      if let refusal = try await stage.session.refusal() {
        throw BenchError("a job was not delivered: \(refusal)")
      }
      guard clock.now - start < .milliseconds(BenchLimits.campaignMsMax) else {
        throw BenchError("a push took more than \(BenchLimits.campaignMsMax / 1_000) s")
      }
      try await clock.sleep(for: .milliseconds(BenchLimits.pollMs))
    }
  }

  private func result(
    _ runs: [Measurement], alone: Measurement, keptBytes: Int
  ) -> ScenarioResult {
    func mebibytes(_ bytes: Int) -> String { Figure.text(Double(bytes) / 1_048_576, decimals: 0) }
    func seconds(_ values: [Double]) -> String {
      Figure.text(Samples.median(values) ?? .nan, decimals: 2)
    }
    var result = ScenarioResult(
      scenario.name, pushes: runs.reduce(0) { $0 + 1 + $1.added.count }, runs: with.runs)
    result.residentMiBMax = runs.map { Double($0.end.residentBytesMax) / 1_048_576 }.max()
    let added = runs.flatMap(\.added)
    let firstPushes = added.map(\.firstPush)
    let last = runs[runs.count - 1]
    result.note =
      "\(mebibytes(last.started.residentBytes)) MiB after the start, "
      + "\(mebibytes(alone.started.residentBytes)) with one app in Redis; started in "
      + "\(seconds(runs.map(\.startSeconds))) s, \(seconds([alone.startSeconds])) with one; "
      + "app add took \(seconds(added.map(\.command))) s, and the app's first push was accepted after "
      + "\(seconds(firstPushes)) s, at most \(seconds([firstPushes.max() ?? .nan])), with one app in Redis after "
      + "\(seconds(alone.added.map(\.firstPush))); Redis keeps \(mebibytes(keptBytes)) MiB of the apps"
    result.check(
      scenario.budgets,
      others: [
        .startOfApps: Samples.median(runs.map(\.startSeconds)) ?? .nan,
        .addedApp: firstPushes.max() ?? .nan,
      ])
    return result
  }
}
