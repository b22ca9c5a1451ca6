import LocalServices

/// Row 32: another node of a Redis Cluster comes to serve everything of ours under load.
struct ClusterRow: MatrixRow {
  let number = 32
  let fault = "failover of a cluster"

  private enum Way: String, CaseIterable, Sendable {
    /// The node that serves dies, and comes back empty when its replica serves.
    case killed
    /// An operator has the replica take over.
    case asked
    /// An operator moves the slot to another master, key by key.
    case moved
  }

  private static let changes = 5
  private static let pauseMs: ClosedRange<UInt64> = 400...1_500
  private static let recoverySeconds = 20.0
  /// Keys of the slot that are moved at a time.
  private static let keysAtOnce = 500

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
    // Another master that is given the slot has none.
    options.redis.clusterReplicas = way == .moved ? 0 : 1
    // Longer than nobody serves: what is measured is not the lease.
    options.leaseSeconds = 30
    let changes = trial.scaled(Self.changes, atLeast: 1)
    let allowed = changes * options.workers * options.inHandMax
    let (reckoning, seconds, readiness) = try await ChaosStage.with(trial, options) { stage in
      let (seconds, readiness) = try await ReadinessWatch.beside(stage) {
        try await stage.underLoad { try await Self.bringAbout(way, times: changes, $0) }
      }
      return (try stage.reckon(try await stage.drain()), seconds, readiness)
    }
    result.runs += changes
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
    for time in 1...times {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      stage.trial.say("\(way.rawValue), change \(time) of \(times)")
      longest = max(longest, try await bringAbout(way, stage))
    }
    return longest
  }

  /// - Returns: how many seconds it took until work went on: from the fault, and where a slot was moved from when all of it was.
  private static func bringAbout(_ way: Way, _ stage: ChaosStage) async throws -> Double {
    guard let cluster = stage.standby.cluster else {
      throw ChaosError("this stage has no cluster")
    }
    return way == .moved
      ? try await move(cluster, stage) : try await failOver(way, cluster, stage)
  }

  private static func failOver(
    _ way: Way, _ cluster: RedisCluster, _ stage: ChaosStage
  ) async throws -> Double {
    let (owner, replica) = try await cluster.settle()
    let start = ContinuousClock.now
    if way == .killed {
      await owner.kill9()
      try await cluster.waitForTakeover(by: replica)
    } else {
      try await cluster.takeOver(with: replica)
    }
    // Producers wait for a replica.
    if way == .killed { try await owner.restart() }
    _ = try await stage.secondsUntilProgress()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    _ = try await cluster.settle()
    return seconds
  }

  private static func move(_ cluster: RedisCluster, _ stage: ChaosStage) async throws -> Double {
    guard let owner = try await cluster.owner(),
      let target = cluster.nodes.first(where: { $0.port != owner.port })
    else { throw ChaosError("no other node of the cluster could take the slot") }
    let move = try await SlotMove.begin(cluster, to: target)
    try await move.moveAll(keysAtOnce)
    let start = ContinuousClock.now
    try await move.end()
    _ = try await stage.secondsUntilProgress()
    return (ContinuousClock.now - start) / .seconds(1)
  }
}
