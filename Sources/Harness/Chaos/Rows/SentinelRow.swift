import LocalServices

/// Row 29: sentinels make the replica the master under load, because the master died or because they are asked to. And they are
/// asked where it is when most of them are gone, or when one of them is wrong.
struct SentinelRow: MatrixRow {
  let number = 29
  let fault = "failover by Sentinel"

  private enum Way: String, CaseIterable, Sendable {
    /// The master dies, and comes back empty when another one is the master.
    case killed
    /// An operator asks for it. The old master lives on, and takes no writes alone.
    case asked
    /// All sentinels but one die, and all connections to the master are cut.
    case lonely
    /// The first sentinel names a server that is not there, and all connections to the master are cut.
    case divided

    var makesAnotherMaster: Bool { self == .killed || self == .asked }
  }

  /// How often each is brought about.
  private static let times = 5
  private static let pauseMs: ClosedRange<UInt64> = 400...1_500
  private static let recoverySeconds = 20.0

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    for way in Way.allCases where trial.wants(phase: way.rawValue, isLong: false) {
      try await run(way, trial, &result)
    }
    guard result.runs > 0 else {
      result.notRun = "no phase of it has \"\(trial.phase ?? "")\" in its name"
      return result
    }
    result.expectRecovery(within: trial.limit(Self.recoverySeconds))
    return result
  }

  private func run(_ way: Way, _ trial: Trial, _ result: inout RowResult) async throws {
    var options = StageOptions(users: trial.users)
    options.redis.sentinels = 3
    options.redis.refusesAlone = way == .asked
    // Longer than there is no master: what is measured is not the lease.
    options.leaseSeconds = 30
    let times = trial.scaled(Self.times, atLeast: 1)
    let allowed = times * options.workers * options.inHandMax
    let (reckoning, seconds, readiness) = try await ChaosStage.with(trial, options) { stage in
      let (seconds, readiness) = try await ReadinessWatch.beside(stage) {
        try await stage.underLoad { try await Self.bringAbout(way, times: times, $0) }
      }
      return (try stage.reckon(try await stage.drain()), seconds, readiness)
    }
    result.runs += times
    // What was settled and not replicated yet is sent again: of each worker what it had in hand.
    result.take(reckoning, duplicatesMax: allowed, way.rawValue)
    result.expectAllAccepted(reckoning, way.rawValue)
    result.take(readiness, way.rawValue)
    result.noteRecovery(seconds)
    result.note(
      phase: way.rawValue, reckoning, duplicatesMax: allowed, recoverySeconds: seconds)
  }

  /// - Returns: the longest that it took until work went on, in seconds.
  private static func bringAbout(
    _ way: Way, times: Int, _ stage: ChaosStage
  ) async throws -> Double {
    var dice = stage.trial.dice(.faults)
    var longest = 0.0
    let master = try await prepare(way, stage)
    for time in 1...times {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      stage.trial.say("\(way.rawValue), \(time) of \(times)")
      let seconds =
        way.makesAnotherMaster ? try await failOver(way, stage) : try await cut(master, stage)
      longest = max(longest, seconds)
    }
    return longest
  }

  private static func sentinels(of stage: ChaosStage) throws(ChaosError) -> SentinelSet {
    guard let set = stage.standby.sentinels else { throw ChaosError("this stage has no sentinels") }
    return set
  }

  /// Leaves only those sentinels, and what they say, that the way is about. - Returns: the master.
  private static func prepare(_ way: Way, _ stage: ChaosStage) async throws -> RedisServer {
    let set = try sentinels(of: stage)
    let (master, _) = try await set.settle()
    switch way {
    case .killed, .asked: break
    case .lonely: for sentinel in set.sentinels.dropLast() { await sentinel.kill9() }
    case .divided: await set.sentinels[0].mistakeMaster(port: try FreePort.find())
    }
    return master
  }

  /// - Returns: how many seconds it took until work went on with the same master.
  private static func cut(_ master: RedisServer, _ stage: ChaosStage) async throws -> Double {
    let start = ContinuousClock.now
    try await master.command("CLIENT", "KILL", "TYPE", "normal")
    _ = try await stage.secondsUntilProgress()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// - Returns: how many seconds it took from the fault until work went on with the new master.
  private static func failOver(_ way: Way, _ stage: ChaosStage) async throws -> Double {
    let set = try sentinels(of: stage)
    let (master, replica) = try await set.settle()
    let start = ContinuousClock.now
    if way == .killed { await master.kill9() } else { await set.sentinels[0].failOver() }
    try await set.wait(until: replica, is: "master")
    // Producers wait for a replica.
    if way == .killed { try await master.restart() }
    _ = try await stage.secondsUntilProgress()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try await set.wait(until: master, is: "slave")
    return seconds
  }
}
