import LocalServices

/// Row 23: the faults of rows 1, 4 and 5 while the load is many jobs to one user each, added with plain XADDs: each is
/// admitted, claimed, settled and ended by itself.
struct SmallJobsRow: MatrixRow {
  let number = 23
  let fault = "kills, Redis crashes and cuts under one-user jobs"

  private static let rounds = 5
  private static let pauseMs: ClosedRange<UInt64> = 100...600
  private static let downMs: ClosedRange<UInt64> = 0...1_500
  private static let cuts = 5

  func run(_ trial: Trial) async throws -> RowResult {
    var options = StageOptions(users: trial.users)
    options.redis.appendOnly = true
    options.redis.hasProxy = true
    // Longer than Redis is away, and than a busy machine keeps a worker of a brief trial waiting.
    options.leaseSeconds = trial.isBrief ? 20 : 6
    let rounds = trial.scaled(Self.rounds)
    let limitSeconds = trial.limit(Double(options.leaseSeconds) + ChaosLimits.recoverySeconds)
    var result = RowResult(number, fault)
    try await ChaosStage.with(trial, options) { stage in
      try await stage.judgeTakeover(within: limitSeconds, &result) { watch in
        try await stage.underLoad(jobUsers: 1) { stage in
          var dice = trial.dice(.faults)
          var allowed = 0
          for round in 1...rounds {
            trial.say("round \(round) of \(rounds), \(stage.ledger.pushes) jobs enqueued")
            try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
            allowed += try await Self.kill(stage, watch, &dice)
            try await Self.crashRedis(stage, &dice)
            try await Self.cut(stage, &dice)
          }
          return allowed
        }
      }
      result.note("\(stage.ledger.pushes) jobs of one user each")
    }
    result.runs = rounds
    return result
  }

  /// - Returns: how many duplicates it explains: what the worker had claimed and not settled.
  private static func kill(
    _ stage: ChaosStage, _ watch: RecoveryWatch, _ dice: inout SeededDice
  ) async throws -> Int {
    let members = await stage.fleet.members
    let victim = members[dice.pick(0...(members.count - 1))]
    await stage.fleet.kill(victim)
    let chunks = await watch.add(victim)
    try await stage.fleet.start()
    _ = try await stage.secondsUntilProgress()
    return chunks
  }

  private static func crashRedis(_ stage: ChaosStage, _ dice: inout SeededDice) async throws {
    await stage.crashRedis()
    try await ChaosStage.pause(ms: dice.pick(downMs))
    try await stage.redis.restart()
    _ = try await stage.secondsUntilProgress()
  }

  /// Cuts all connections between workers and Redis, and then loses replies to what was done.
  private static func cut(_ stage: ChaosStage, _ dice: inout SeededDice) async throws {
    guard let proxy = stage.redisProxy else { throw ChaosError("this stage has no proxy") }
    for _ in 1...cuts {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      await proxy.cut()
    }
    await proxy.set(.dropReply(afterReads: 1...40))
    try await ChaosStage.pause(ms: 2_000)
    await proxy.set(.none)
    _ = try await stage.secondsUntilProgress()
  }
}
