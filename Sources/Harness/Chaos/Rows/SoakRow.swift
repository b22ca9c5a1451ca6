import LocalServices
import Model
import Redis
import Store

/// Row 14: a random fault every few seconds for as long as wanted; afterwards nothing may be left of them.
struct SoakRow: MatrixRow {
  let number = 14
  let fault = "soak, random faults"

  private static let pauseMs: ClosedRange<UInt64> = 500...4_000
  /// Users of one job, so that stopping the load stops the work soon.
  private static let jobUsers = 2_000

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    var options = StageOptions()
    options.users = 20_000
    options.streams = 10
    options.answerMs = 25
    options.redis.appendOnly = true
    options.redis.hasProxy = true
    options.hasProviderProxy = true
    let minutes = trial.soakMinutes
    return try await ChaosStage.with(trial, options) { stage in
      try await stage.underLoad(pushesMin: 40_000, jobUsers: Self.jobUsers) { _ in }
      _ = try await stage.drain()
      let before = try await StageFootprint(stage)
      let (allowed, counts) = try await stage.underLoad(jobUsers: Self.jobUsers) { stage in
        try await Self.torment(stage, minutes: minutes)
      }
      let records = try await stage.drain(hurrying: true)
      let reckoning = try stage.reckon(records)
      result.runs = counts.values.reduce(0, +)
      result.take(reckoning, duplicatesMax: allowed)
      result.expect(reckoning.failed == 0, "\(reckoning.failed) pushes were given up")
      result.expect(reckoning.rejected == 0, "\(reckoning.rejected) pushes count as rejected")
      for sentence in try await MissingJobs(stage, records).sentences { result.fail(sentence) }
      let kinds = counts.sorted { $0.key.rawValue < $1.key.rawValue }
      result.note(kinds.map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", "))
      // Leases of the last dead run out, and their consumers' entries go.
      try await ChaosStage.pause(ms: UInt64(options.leaseSeconds) * 2_000)
      let after = try await StageFootprint(stage)
      after.compare(
        with: before, kills: counts[.kill] ?? 0, jobs: stage.ledger.entries.count, into: &result)
      return result
    }
  }

  /// - Returns: how many duplicates the faults explain, and how often each came.
  private static func torment(
    _ stage: ChaosStage, minutes: Double
  ) async throws -> (Int, [Nemesis: Int]) {
    var dice = stage.trial.dice(.faults)
    var counts: [Nemesis: Int] = [:]
    var allowed = 0
    let end = ContinuousClock.now + .seconds(minutes * 60)
    while ContinuousClock.now < end {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      let nemesis = Nemesis.allCases[dice.pick(0...(Nemesis.allCases.count - 1))]
      stage.trial.say("\(nemesis.rawValue), \(stage.ledger.pushes) pushes enqueued")
      counts[nemesis, default: 0] += 1
      allowed += try await nemesis.strike(stage, &dice)
    }
    return (allowed, counts)
  }
}
