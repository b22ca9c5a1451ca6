import LocalServices
import Model
import Redis
import Stage

/// Row 25: workers and Redis are killed while each job raises the badges of its installations, which on JPush share requests
/// by badge. Afterwards each installation's
/// badge is the number of jobs that it was in: none was raised twice, and none missed.
struct BadgeRow: MatrixRow {
  let number = 25
  let fault = "kill -9 of workers and of Redis under badges"

  private static let kills = 40
  private static let crashes = 10
  private static let killsMin = 3
  private static let pushes = 300_000
  private static let pauseMs: ClosedRange<UInt64> = 100...600
  private static let downMs: ClosedRange<UInt64> = 0...1_500
  /// Installations whose badges are read by one command.
  private static let readAtOnce = 500

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    if trial.wants(phase: "workers", isLong: false) {
      try await Self.killWorkers(trial, .apns, "workers", &result)
    }
    if trial.wants(phase: "JPush", isLong: false) {
      try await Self.killWorkers(trial, .jpush, "JPush", &result)
    }
    if trial.wants(phase: "Redis", isLong: false) { try await Self.crashRedis(trial, &result) }
    return result
  }

  /// Some pushes are tried again, and get the number that they had.
  private static func trouble(_ network: Network) -> String {
    // JPush refuses a request for any of its many pushes.
    #""all": {"status": 503, "probability": \#(network == .jpush ? 0.0005 : 0.02)}"#
  }

  private static func options(_ trial: Trial, _ network: Network = .apns) -> StageOptions {
    var options = StageOptions(users: trial.users)
    options.crowd.network = network
    options.crowd.raisesBadges = true
    return options
  }

  private static func killWorkers(
    _ trial: Trial, _ network: Network, _ phase: String, _ result: inout RowResult
  ) async throws {
    let options = options(trial, network)
    let kills = trial.scaled(Self.kills, atLeast: killsMin)
    let pushes = trial.scaled(Self.pushes)
    let limitSeconds = trial.limit(Double(options.leaseSeconds) + ChaosLimits.recoverySeconds)
    try await ChaosStage.with(trial, options) { stage in
      try await stage.simulator.follow(options.script(trouble(network)))
      try await stage.judgeTakeover(within: limitSeconds, &result) { watch in
        try await stage.underLoad(pushesMin: pushes) { stage in
          var dice = trial.dice(.faults)
          var allowed = 0
          for kill in 1...kills {
            try await ChaosStage.pause(ms: dice.pick(pauseMs))
            let members = await stage.fleet.members
            let victim = members[dice.pick(0...(members.count - 1))]
            trial.say("\(phase): kill \(kill) of \(kills), \(stage.ledger.pushes) pushes enqueued")
            await stage.fleet.kill(victim)
            let chunks = await watch.add(victim)
            // Of JPush a chunk's pushes may all be answered at once.
            allowed +=
              network == .jpush
              ? chunks * Limits.chunkRecipientsMax
              : options.inFlightMax + chunks * ChaosLimits.unsettledPerChunk
            try await stage.fleet.start()
          }
          return allowed
        }
      }
      result.runs += kills
      try await compare(stage, phase, &result)
    }
  }

  private static func crashRedis(_ trial: Trial, _ result: inout RowResult) async throws {
    var options = options(trial)
    options.redis.appendOnly = true
    // Longer than Redis is away: what is measured is not the lease.
    options.leaseSeconds = 15
    let script = options.script(trouble(options.crowd.network))
    let crashes = trial.scaled(Self.crashes, atLeast: 2)
    try await ChaosStage.with(trial, options) { stage in
      try await stage.simulator.follow(script)
      try await stage.underLoad { stage in
        var dice = trial.dice(.faults)
        for crash in 1...crashes {
          try await ChaosStage.pause(ms: dice.pick(pauseMs))
          trial.say("crash \(crash) of \(crashes), \(stage.ledger.pushes) pushes enqueued")
          await stage.crashRedis()
          try await ChaosStage.pause(ms: dice.pick(downMs))
          try await stage.redis.restart()
          _ = try await stage.secondsUntilProgress()
        }
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: 0, "Redis")
      result.expectAllAccepted(reckoning, "Redis")
      result.runs += crashes
      try await compare(stage, "Redis", &result)
    }
  }

  /// Compares each installation's badge with the jobs that it was in.
  private static func compare(
    _ stage: ChaosStage, _ phase: String, _ result: inout RowResult
  ) async throws {
    var changes = [Int](repeating: 0, count: stage.crowd.count + 1)
    for entry in stage.ledger.entries {
      changes[entry.users.lowerBound] += 1
      changes[entry.users.upperBound] -= 1
    }
    var jobs = 0
    let expected = changes.dropLast().enumerated().map { number, change in
      jobs += change
      return stage.crowd.firstBadge(number) + jobs
    }
    var (more, fewer) = (0, 0)
    for first in stride(from: 0, to: expected.count, by: readAtOnce) {
      let numbers = first..<min(first + readAtOnce, expected.count)
      let badges = try await stage.session.badges(
        app: stage.crowd.app, stage.crowd.network, tokens: numbers.map { stage.crowd.tokenText($0) }
      )
      for (badge, expected) in zip(badges, expected[numbers]) {
        if badge > expected { more += 1 }
        if badge < expected { fewer += 1 }
      }
    }
    let kept = try await stage.session.command("KEYS", "pushpool:badges:*").array?.count ?? 0
    result.note(
      "\(phase): \(stage.ledger.pushes) badges raised on \(expected.count) installations, "
        + "\(more) stand higher and \(fewer) lower")
    result.expect(more == 0, "\(phase): \(more) installations have too large a badge")
    result.expect(fewer == 0, "\(phase): \(fewer) installations have too small a badge")
    result.expect(kept == 0, "\(phase): what \(kept) chunks gave is kept after their end")
  }
}
