import LocalServices

/// Row 4: redis-server is killed under load and started again on what it wrote.
struct RedisCrashRow: MatrixRow {
  let number = 4
  let fault = "Redis kill -9 and restart"

  private static let crashes = 20
  private static let pauseMs: ClosedRange<UInt64> = 400...1_500
  private static let downMs: ClosedRange<UInt64> = 0...1_500

  func run(_ trial: Trial) async throws -> RowResult {
    let number = number
    let fault = fault
    var options = StageOptions(users: trial.users)
    options.redis.appendOnly = true
    // Longer than Redis is away: what is measured is not the lease.
    options.leaseSeconds = 15
    let crashes = trial.scaled(Self.crashes, atLeast: 2)
    return try await ChaosStage.with(trial, options) { stage in
      var result = try await stage.underLoad { stage in
        var result = RowResult(number, fault)
        var dice = trial.dice(.faults)
        for crash in 1...crashes {
          try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
          trial.say("crash \(crash) of \(crashes), \(stage.ledger.pushes) pushes enqueued")
          await stage.crashRedis()
          try await ChaosStage.pause(ms: dice.pick(Self.downMs))
          // Returns when it has loaded its data.
          try await stage.redis.restart()
          result.noteRecovery(try await stage.secondsUntilProgress())
        }
        return result
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = crashes
      result.take(reckoning, duplicatesMax: 0)
      result.expectAllAccepted(reckoning)
      result.expectRecovery(within: trial.limit(ChaosLimits.recoverySeconds))
      return result
    }
  }
}
