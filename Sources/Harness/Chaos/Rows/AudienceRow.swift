import LocalServices
import Model
import Store

/// Row 15: Redis is killed and restarted, or a replica takes over, amid campaigns to each kind of audience.
struct AudienceRow: MatrixRow {
  let number = 15
  let fault = "Redis restart and failover under each kind of audience"

  private static let crashes = 8
  private static let pauseMs: ClosedRange<UInt64> = 300...1_200
  private static let downMs: ClosedRange<UInt64> = 0...1_000
  /// The part of the pushes after which the master goes, in percent.
  private static let failoverPercent = 35...55

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    if trial.wants(phase: "restart", isLong: false) { try await restart(trial, &result) }
    if trial.wants(phase: "failover", isLong: false) { try await failover(trial, &result) }
    return result
  }

  private func restart(_ trial: Trial, _ result: inout RowResult) async throws {
    var options = StageOptions(users: trial.users)
    options.crowd.channel = CampaignAudience.channel.rawValue
    options.redis.appendOnly = true
    // What a slow disk costs is not the question here, nor is the lease.
    options.redis.appendSync = "always"
    options.leaseSeconds = 15
    let crashes = trial.scaled(Self.crashes, atLeast: 2)
    let (reckoning, count) = try await ChaosStage.with(trial, options) { stage in
      try await stage.fillAudiences()
      try await stage.startCampaigns()
      var dice = trial.dice(.faults)
      var count = 0
      for crash in 1...crashes {
        try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
        if try await Self.hasEnded(stage) { break }
        trial.say("crash \(crash) of \(crashes)")
        await stage.crashRedis()
        try await ChaosStage.pause(ms: dice.pick(Self.downMs))
        try await stage.redis.restart()
        count += 1
      }
      return (try stage.reckon(try await stage.drain()), count)
    }
    result.runs += count
    result.expect(count > 0, "all campaigns had ended before Redis was killed")
    result.take(reckoning, duplicatesMax: 0, "restart")
    result.expectAllAccepted(reckoning, "restart")
  }

  private func failover(_ trial: Trial, _ result: inout RowResult) async throws {
    var options = StageOptions(users: trial.users)
    options.crowd.channel = CampaignAudience.channel.rawValue
    options.redis.hasReplica = true
    let workers = options.workers
    let inHand = options.inHandMax
    let reckoning = try await ChaosStage.with(trial, options) { stage in
      guard let port = stage.redis.port else { throw ChaosError("the master has no port") }
      var replicaOptions = RedisServer.Options()
      replicaOptions.configuration = ["replicaof 127.0.0.1 \(port)"]
      return try await RedisServer.with(replicaOptions) { replica in
        try await stage.fillAudiences()
        try await stage.startCampaigns()
        _ = try await stage.session.command("WAIT", "1", "\(ChaosLimits.startMsMax)")
        var dice = trial.dice(.faults)
        let percent = dice.pick(Self.failoverPercent)
        let wanted = stage.ledger.pushes * percent / 100
        _ = try await stage.eventually(ChaosLimits.drainMsMax) {
          try await Self.accepted(stage) >= wanted ? true : nil
        }
        trial.say("failover at \(percent) % of the pushes")
        await stage.crashRedis()
        let successor = try await ChaosSession.open(url: replica.url)
        _ = try await successor.command("REPLICAOF", "NO", "ONE")
        // At the same address, as a virtual one is moved.
        _ = try await successor.command("CONFIG", "SET", "port", "\(port)")
        await successor.close()
        return try stage.reckon(try await stage.drain())
      }
    }
    result.runs += 1
    // What was settled and not replicated yet is sent again: of each worker what it had in hand.
    result.take(reckoning, duplicatesMax: workers * inHand, "failover")
    result.expectAllAccepted(reckoning, "failover")
  }

  private static func accepted(_ stage: ChaosStage) async throws -> Int {
    var sum = 0
    for entry in stage.ledger.entries {
      sum += try await stage.session.record(app: entry.app, id: entry.id)?.counts.accepted ?? 0
    }
    return sum
  }

  private static func hasEnded(_ stage: ChaosStage) async throws -> Bool {
    for entry in stage.ledger.entries {
      let record = try await stage.session.record(app: entry.app, id: entry.id)
      if record?.state.isFinal != true { return false }
    }
    return true
  }
}
