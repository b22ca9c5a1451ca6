import LocalServices
import Redis
import Stage

/// Row 31: Redis's clock goes back by ten minutes again and again, and each time a worker dies within a second.
struct ServerClockRow: MatrixRow {
  let number = 31
  let fault = "Redis's clock goes back, and a worker is killed"

  /// Together less than the hour for which a network takes the provider tokens that are signed by that clock.
  private static let rounds = 4
  private static let stepMs: Int64 = 600_000
  private static let pauseMs: ClosedRange<UInt64> = 500...1_500
  /// From the step to the kill: before any worker has beaten, or after some have.
  private static let killMs: ClosedRange<UInt64> = 0...900

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let clock = try ClockShift(file: folder.file("clock"))
    var options = StageOptions(users: trial.users)
    options.redis.clock = clock
    let rounds = min(trial.scaled(Self.rounds), Self.rounds)
    let limitSeconds = trial.limit(Double(options.leaseSeconds) + ChaosLimits.recoverySeconds)
    return try await ChaosStage.with(trial, options) { stage in
      result.runs = rounds
      try await stage.judgeTakeover(within: limitSeconds, &result) { watch in
        try await stage.underLoad { stage in try await Self.play(rounds, clock, stage, watch) }
      }
      let refusals = await stage.fleet.logLines(with: "refused the provider token")
      result.expect(refusals == 0, "\(refusals) times a provider token was refused")
      return result
    }
  }

  /// - Returns: how many duplicates the kills explain.
  private static func play(
    _ rounds: Int, _ clock: ClockShift, _ stage: ChaosStage, _ watch: RecoveryWatch
  ) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var allowed = 0
    var chunks = 0
    for round in 1...rounds {
      stage.trial.say("step \(round) of \(rounds), \(stage.ledger.pushes) pushes enqueued")
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      let victim = try await working(stage)
      try clock.set(realtimeMs: -Int64(round) * stepMs)
      try await expectStep(round, stage)
      try await ChaosStage.pause(ms: dice.pick(killMs))
      await stage.fleet.kill(victim)
      let left = await watch.add(victim)
      chunks += left
      allowed += stage.duplicates(ofLost: left)
      try await stage.fleet.start()
      // Another step would begin its leases anew.
      while await !watch.isOver { try await ChaosStage.pause(ms: ChaosLimits.pollMs) }
    }
    guard chunks > 0 else { throw ChaosError("no worker died with anything in hand") }
    return allowed
  }

  /// A worker that has chunks in hand.
  private static func working(_ stage: ChaosStage) async throws -> Fleet.Member {
    let members = await stage.fleet.members
    let found = try await stage.eventually(ChaosLimits.startMsMax) {
      let counts = await stage.pending("chunks")
      return members.first { member in
        counts.contains { $0.value > 0 && member.owns(consumer: $0.key) }
      }
    }
    guard let found else { throw ChaosError("no worker has anything in hand") }
    return found
  }

  /// Throws if Redis tells another time than it was given.
  private static func expectStep(_ round: Int, _ stage: ChaosStage) async throws {
    let reply = try await stage.session.command("TIME").array ?? []
    let told = Int64(reply.first?.integer ?? 0) * 1_000
    let behindMs = EpochClock.nowMs() - told
    guard behindMs > Int64(round) * stepMs - stepMs / 2 else {
      throw ChaosError("Redis's clock was set back, and is \(behindMs) ms behind only")
    }
  }
}
