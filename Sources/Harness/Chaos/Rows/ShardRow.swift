import LocalServices

/// Row 33: another shard of the fleet dies or hangs under load, and the load's own does not notice; and jobs that are added in the
/// wrong shard come to their own while both die and hang.
struct ShardRow: MatrixRow {
  let number = 33
  let fault = "other shards die and hang"

  private enum Way: String, CaseIterable, Sendable {
    /// The Redis of another shard dies, and comes back empty.
    case killed
    /// The Redis of another shard is stopped, and answers nothing.
    case hung
    /// The Redis of the fleet's home dies. What the load needs stands beside its app.
    case home
    /// The jobs of the load are added in another shard. That dies, keeping what it has, and in turn the load's own hangs for longer
    /// than a call to Redis may take: whether jobs were added there is not known then.
    case astray
  }

  private static let shards = 2
  private static let changes = 5
  private static let pauseMs: ClosedRange<UInt64> = 400...1_500
  /// Longer than a call to Redis may take.
  private static let hangMs: ClosedRange<UInt64> = 6_000...8_000
  /// No time in which others would wait for a lease or an answer.
  private static let recoverySeconds = 3.0
  /// Longer than a Redis hangs: no lease ends meanwhile.
  private static let leaseSeconds = 30
  /// Jobs for which a lane has no room wait so long, as those of an unknown app, for their shard.
  private static let unroutedSeconds = 600

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    for way in Way.allCases where trial.wants(phase: way.rawValue, isLong: false) {
      try await run(way, trial, &result)
    }
    guard result.runs > 0 else {
      result.notRun = "no phase of it has \"\(trial.phase ?? "")\" in its name"
      return result
    }
    // A run of the last way alone measures none.
    if result.recoverySeconds != nil {
      result.expectRecovery(within: trial.limit(Self.recoverySeconds))
    }
    return result
  }

  private func run(_ way: Way, _ trial: Trial, _ result: inout RowResult) async throws {
    var options = StageOptions(users: trial.users)
    options.redis.otherShards = Self.shards
    options.redis.isHomeElsewhere = way == .home
    if way == .astray {
      options.redis.areJobsAstray = true
      options.redis.appendOnly = true
      options.redis.appendSync = "always"
      options.leaseSeconds = Self.leaseSeconds
      options.unroutedSeconds = Self.unroutedSeconds
    }
    let changes = trial.scaled(Self.changes)
    let (reckoning, seconds) = try await ChaosStage.with(trial, options) { stage in
      let seconds = try await stage.underLoad { stage in
        var dice = trial.dice(.faults)
        // All workers have begun, with what they need of a home.
        var longest = 0.0
        _ = try await stage.secondsUntilProgress()
        for change in 1...changes {
          try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
          trial.say("\(way.rawValue), change \(change) of \(changes)")
          if way == .astray {
            try await Self.disturb(change, &dice, stage)
            continue
          }
          let server = stage.standby.shards[way == .home ? 0 : change % Self.shards]
          longest = max(longest, try await Self.bringAbout(way, server, &dice, stage))
        }
        return longest
      }
      return (try stage.reckon(try await stage.drain()), seconds)
    }
    result.runs += changes
    result.take(reckoning, duplicatesMax: 0, way.rawValue)
    result.expectAllAccepted(reckoning, way.rawValue)
    // Without its own shard the load stands still.
    if way != .astray { result.noteRecovery(seconds) }
    result.note(
      phase: way.rawValue, reckoning, duplicatesMax: 0,
      recoverySeconds: way == .astray ? nil : seconds)
  }

  /// Has the shard die in which the jobs are added, or in turn that hang in which their app lives, and waits until they go on.
  private static func disturb(
    _ change: Int, _ dice: inout SeededDice, _ stage: ChaosStage
  ) async throws {
    if change.isMultiple(of: 2) {
      let server = stage.standby.shards[0]
      await server.kill9()
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      try await server.restart()
    } else {
      await stage.redis.freeze()
      try await ChaosStage.pause(ms: dice.pick(hangMs))
      await stage.redis.thaw()
    }
    _ = try await stage.secondsUntilProgress()
  }

  /// - Returns: the longest time in which nothing was settled while the server was away.
  private static func bringAbout(
    _ way: Way, _ server: RedisServer, _ dice: inout SeededDice, _ stage: ChaosStage
  ) async throws -> Double {
    var longest = 0.0
    func watch(forMs ms: UInt64) async throws {
      let end = ContinuousClock.now + .milliseconds(Int(ms))
      repeat {
        longest = max(longest, try await stage.secondsUntilProgress())
      } while ContinuousClock.now < end
    }
    switch way {
    case .killed, .home:
      await server.kill9()
      try await watch(forMs: dice.pick(pauseMs))
      try await server.restart()
    case .hung, .astray:
      await server.freeze()
      try await watch(forMs: dice.pick(hangMs))
      await server.thaw()
    }
    return longest
  }
}
