import LocalServices
import Model
import Redis
import Stage
import Worker

/// Row 6: what push networks do to those who push.
struct ProviderRow: MatrixRow {
  let number = 6
  let fault = "push network in trouble"

  private static let rateShare = 0.9
  private static let recoverySeconds = 60.0
  /// The words of a worker's log when it replaces a bad connection.
  private static let replacementLine = "that connection is replaced"
  /// The words of a worker's log when a breaker of it opens.
  private static let openingLine = "is in trouble: its pushes wait"

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let limitSeconds = trial.limit(Self.recoverySeconds)
    let phases = ProviderPhase.all(trial)
    for phase in phases {
      trial.say(phase.name)
      try await run(phase, trial, &result)
    }
    result.runs = phases.count
    guard !phases.isEmpty else {
      result.notRun = "no phase of it has \"\(trial.phase ?? "")\" in its name"
      return result
    }
    result.expectRecovery(within: limitSeconds)
    return result
  }

  private func run(
    _ phase: ProviderPhase, _ trial: Trial, _ result: inout RowResult
  ) async throws {
    var options = StageOptions()
    options.users = trial.isBrief ? 5_000 : 20_000
    options.workers = 2
    options.hasProviderProxy = true
    let workers = options.workers
    let limitSeconds = trial.limit(Self.recoverySeconds)
    try await ChaosStage.with(trial, options) { stage in
      let outstanding = phase.rateShareMin.map { _ in ChaosLimits.jobsOutstandingBesideRetries }
      let (seconds, meanwhile) = try await stage.underLoad(outstanding: outstanding) { stage in
        try await ChaosStage.pause(ms: 1_500)
        let usual = try await stage.acceptRate(overMs: 1_500)
        let meanwhile = try await Self.apply(phase, stage)
        let seconds = try await stage.secondsUntilRate(
          usual * Self.rateShare, patienceSeconds: limitSeconds + 10)
        return (seconds, meanwhile.map { $0 / usual })
      }
      if let shareMin = phase.rateShareMin, let meanwhile {
        result.note("\(phase.name): \(tenths(meanwhile * 100)) % of the usual rate meanwhile")
        result.expect(
          meanwhile >= shareMin,
          "\(phase.name): \(tenths(meanwhile * 100)) % of the usual rate meanwhile")
        let alarms = try await Self.alarms(stage).subtracting(phase.alarmsAllowed)
        result.expect(
          alarms.isEmpty, "\(phase.name): \(alarms.sorted()) stand for a few answers")
      }
      let reckoning = try stage.reckon(try await stage.drain(hurrying: true))
      let breaks = await stage.providerProxy?.breaks ?? 0
      // A silence takes the answers of all that is in flight when it begins.
      let silenced = phase.network == .blackhole ? workers * options.inFlightMax : 0
      let explained =
        phase.losesAnswers
        ? breaks * options.streams + silenced : phase.answersTooLate ? reckoning.retries : 0
      result.take(reckoning, duplicatesMax: explained, phase.name)
      result.expect(
        reckoning.failed == 0, "\(phase.name): \(reckoning.failed) pushes were given up")
      result.expect(
        phase.rejects || reckoning.rejected == 0,
        "\(phase.name): \(reckoning.rejected) pushes count as rejected")
      result.note(
        "\(phase.name): \(reckoning.pushes) pushes, \(reckoning.retries) retries, "
          + "\(reckoning.duplicates) duplicates, usual rate again after \(tenths(seconds)) s")
      if phase.replacesConnection {
        let replaced = await stage.fleet.logLines(with: Self.replacementLine)
        result.note("\(phase.name): \(replaced) connections replaced")
        result.expect(replaced > 0, "\(phase.name): no connection was replaced")
      }
      if phase.opensBreakers { await Self.checkAttempts(phase, reckoning, stage, &result) }
      result.noteRecovery(seconds)
      result.expect(
        seconds <= phase.recoverySeconds ?? limitSeconds,
        "\(phase.name): less than 90 % of the rate \(tenths(seconds)) s after it")
      let violations = try await stage.simulator.counters().violations
      result.expect(
        violations == 0, "\(phase.name): \(violations) streams above what the server allows")
    }
  }

  /// While a breaker is open no attempt is burned: all that were are what it took to open.
  private static func checkAttempts(
    _ phase: ProviderPhase, _ reckoning: Reckoning, _ stage: ChaosStage, _ result: inout RowResult
  ) async {
    let openings = await stage.fleet.logLines(with: openingLine)
    let attemptsMax = openings * BreakerLimits.attemptsBurnedMax
    result.note(
      "\(phase.name): \(reckoning.retries) attempts burned, at most \(attemptsMax) are explained by "
        + "\(openings) breakers that opened")
    result.expect(openings > 0, "\(phase.name): no breaker opened")
    result.expect(
      reckoning.retries <= attemptsMax,
      "\(phase.name): \(reckoning.retries) attempts were burned, \(openings) breakers that opened explain "
        + "\(attemptsMax)")
  }

  /// The kinds of the alarms that stand.
  private static func alarms(_ stage: ChaosStage) async throws -> Set<String> {
    let fields = try await stage.session.command("HKEYS", "pushpool:alarms").array ?? []
    return Set(fields.compactMap { $0.string?.split(separator: "|").first.map(String.init) })
  }

  /// - Returns: the rate meanwhile, where it matters.
  private static func apply(_ phase: ProviderPhase, _ stage: ChaosStage) async throws -> Double? {
    guard let proxy = stage.providerProxy else { throw ChaosError("this stage has no proxy") }
    await proxy.set(phase.network)
    if let script = phase.script {
      try await stage.simulator.follow(stage.options.script(script))
    }
    // What counts per connection begins anew.
    if phase.beginsAnew { await proxy.cut() }
    var meanwhile: Double?
    if phase.rateShareMin == nil {
      try await ChaosStage.pause(ms: phase.ms)
    } else {
      meanwhile = try await stage.acceptRate(overMs: phase.ms)
    }
    await proxy.set(.none)
    try await stage.simulator.follow(stage.options.health)
    // A connection keeps what its script made of it: that is the fault's, not the network's in health.
    if phase.beginsAnew { await proxy.cut() }
    return meanwhile
  }
}
