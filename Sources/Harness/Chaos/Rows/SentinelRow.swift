import LocalServices

/// Row 29: sentinels make the replica the master under load, because the master died or because they are asked to.
struct SentinelRow: MatrixRow {
  let number = 29
  let fault = "failover by Sentinel"

  private enum Way: String, CaseIterable, Sendable {
    /// The master dies, and comes back empty when another one is the master.
    case killed
    /// An operator asks for it. The old master lives on, and takes no writes alone.
    case asked
  }

  private static let failovers = 5
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
    let failovers = trial.scaled(Self.failovers, atLeast: 1)
    let allowed = failovers * options.workers * options.inHandMax
    let (reckoning, seconds) = try await ChaosStage.with(trial, options) { stage in
      let seconds = try await stage.underLoad { stage in
        var dice = trial.dice(.faults)
        var longest = 0.0
        for failover in 1...failovers {
          try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
          trial.say("\(way.rawValue), failover \(failover) of \(failovers)")
          longest = max(longest, try await Self.failOver(way, stage))
        }
        return longest
      }
      return (try stage.reckon(try await stage.drain()), seconds)
    }
    result.runs += failovers
    // What was settled and not replicated yet is sent again: of each worker what it had in hand.
    result.take(reckoning, duplicatesMax: allowed, way.rawValue)
    result.expectAllAccepted(reckoning, way.rawValue)
    result.noteRecovery(seconds)
  }

  /// - Returns: how many seconds it took from the fault until work went on with the new master.
  private static func failOver(_ way: Way, _ stage: ChaosStage) async throws -> Double {
    guard let set = stage.sentinels else { throw ChaosError("this stage has no sentinels") }
    let (master, replica) = try await set.settle()
    let start = ContinuousClock.now
    switch way {
    case .killed: await master.kill9()
    case .asked: await set.sentinels[0].failOver()
    }
    try await set.wait(until: replica, is: "master")
    _ = try await stage.secondsUntilProgress()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    if way == .killed { try await master.restart() }
    try await set.wait(until: master, is: "slave")
    return seconds
  }
}
