import LocalServices

/// Row 1: workers are killed at random moments of a campaign.
struct KillRow: MatrixRow {
  let number = 1
  let fault = "kill -9 of workers"

  private static let kills = 100
  private static let pushes = 1_000_000
  private static let pauseMs: ClosedRange<UInt64> = 100...600

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let options = StageOptions(users: trial.users)
    let kills = trial.scaled(Self.kills)
    let pushes = trial.scaled(Self.pushes)
    let limitSeconds = trial.limit(Double(options.leaseSeconds) + ChaosLimits.recoverySeconds)
    return try await ChaosStage.with(trial, options) { stage in
      result.runs = kills
      try await stage.judgeTakeover(within: limitSeconds, &result) { watch in
        try await stage.underLoad(pushesMin: pushes) { stage in
          try await Self.kill(kills, stage, watch)
        }
      }
      return result
    }
  }

  /// - Returns: how many duplicates the kills explain: what was in flight, and of each chunk in hand what
  ///   was not settled.
  private static func kill(
    _ kills: Int, _ stage: ChaosStage, _ watch: RecoveryWatch
  ) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var allowed = 0
    for kill in 1...kills {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      let members = await stage.fleet.members
      let victim = members[dice.pick(0...(members.count - 1))]
      stage.trial.say("kill \(kill) of \(kills), \(stage.ledger.pushes) pushes enqueued")
      await stage.fleet.kill(victim)
      let chunks = await watch.add(victim)
      allowed += stage.duplicates(ofLost: chunks)
      try await stage.fleet.start()
    }
    return allowed
  }
}
