import LocalServices
import Model

/// Row 6: what push networks do to those who push.
struct ProviderRow: MatrixRow {
  let number = 6
  let fault = "push network in trouble"

  private static let rateShare = 0.9
  private static let recoverySeconds = 60.0

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let phases = ProviderPhase.all(trial)
    for phase in phases {
      trial.say(phase.name)
      try await run(phase, trial, &result)
    }
    result.runs = phases.count
    result.expectRecovery(within: Self.recoverySeconds)
    return result
  }

  private func run(
    _ phase: ProviderPhase, _ trial: Trial, _ result: inout RowResult
  ) async throws {
    var options = StageOptions()
    options.users = 20_000
    options.workers = 2
    options.hasProviderProxy = true
    let workers = options.workers
    try await ChaosStage.with(trial, options) { stage in
      let seconds = try await stage.underLoad { stage in
        try await ChaosStage.pause(ms: 1_500)
        let usual = try await stage.acceptRate(overMs: 1_500)
        try await Self.apply(phase, stage)
        return try await stage.secondsUntilRate(
          usual * Self.rateShare, patienceSeconds: Self.recoverySeconds + 10)
      }
      let reckoning = try stage.reckon(try await stage.drain(hurrying: true))
      let breaks = await stage.providerProxy?.breaks ?? 0
      // A silence takes the answers of all that is in flight when it begins.
      let silenced = phase.network == .blackhole ? workers * options.inFlightMax : 0
      result.take(
        reckoning,
        duplicatesMax: phase.losesAnswers ? breaks * options.streams + silenced : 0, phase.name)
      result.expect(
        reckoning.failed == 0, "\(phase.name): \(reckoning.failed) pushes were given up")
      result.expect(
        phase.rejects || reckoning.rejected == 0,
        "\(phase.name): \(reckoning.rejected) pushes count as rejected")
      result.note(
        "\(phase.name): \(reckoning.pushes) pushes, \(reckoning.retries) retries, "
          + "\(reckoning.duplicates) duplicates, usual rate again after \(tenths(seconds)) s")
      result.noteRecovery(seconds)
      result.expect(
        seconds <= Self.recoverySeconds,
        "\(phase.name): less than 90 % of the rate \(tenths(seconds)) s after it")
      let counters = try await stage.provider.counters()
      let violations = counters["violations"]?.int64Value ?? -1
      result.expect(
        violations == 0, "\(phase.name): \(violations) streams above what the server allows")
      let gone = await stage.fleet.deserters.count
      result.expect(gone == 0, "\(phase.name): \(gone) of \(workers) workers ended by themselves")
    }
  }

  private static func apply(_ phase: ProviderPhase, _ stage: ChaosStage) async throws {
    guard let proxy = stage.providerProxy else { throw ChaosError("this stage has no proxy") }
    await proxy.set(phase.network)
    if let script = phase.script {
      try await stage.provider.follow(stage.options.script(script))
    }
    // What counts per connection begins anew.
    if phase.beginsAnew { await proxy.cut() }
    try await ChaosStage.pause(ms: phase.ms)
    await proxy.set(.none)
    try await stage.provider.follow(stage.options.health)
    // A connection keeps what its script made of it: that is the fault's, not the network's in health.
    if phase.beginsAnew { await proxy.cut() }
  }
}
