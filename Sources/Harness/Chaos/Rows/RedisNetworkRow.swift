import LocalServices

/// Row 5: what networks do to the connections between workers and Redis.
struct RedisNetworkRow: MatrixRow {
  let number = 5
  let fault = "network between workers and Redis"

  private struct Phase: Sendable {
    let name: String
    let fault: FaultProxy.Fault
    let ms: UInt64
    /// Whether lanes are kept from Redis for longer than their lease, so that others take their chunks over.
    var outlastsLease = false
    /// Cuts all connections each so often; nil never.
    var cutEveryMs: UInt64?
    /// Whether a brief run leaves it out.
    var isLong = false
  }

  private static let leaseSeconds = 6
  private static let recoverySeconds = 15.0

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let phases = Self.phases(trial).filter { trial.wants(phase: $0.name, isLong: $0.isLong) }
    for phase in phases {
      trial.say(phase.name)
      try await run(phase, trial, &result)
    }
    result.runs = phases.count
    guard !phases.isEmpty else {
      result.notRun = "no phase of it has \"\(trial.phase ?? "")\" in its name"
      return result
    }
    result.expectRecovery(within: trial.limit(Self.recoverySeconds))
    return result
  }

  private static func phases(_ trial: Trial) -> [Phase] {
    let usualMs = trial.scaledMs(10_000, atLeast: 2_000)
    let longMs = trial.scaledMs(60_000, atLeast: 9_000)
    return [
      Phase(name: "latency", fault: .delay(ms: 2...80), ms: usualMs, isLong: true),
      Phase(name: "1-byte fragments", fault: .fragments, ms: usualMs),
      Phase(
        name: "narrow band", fault: .bandwidth(bytesPerSecond: 100_000), ms: usualMs, isLong: true),
      Phase(
        name: "reset in the middle of a reply", fault: .resetMidReply(afterReads: 1...40),
        ms: usualMs),
      Phase(
        name: "reset in the middle of a request", fault: .resetMidRequest(afterReads: 1...40),
        ms: usualMs, isLong: true),
      Phase(
        name: "reply dropped after execution", fault: .dropReply(afterReads: 1...40), ms: usualMs),
      Phase(name: "cut", fault: .none, ms: usualMs, cutEveryMs: 400, isLong: true),
      Phase(name: "no new connections", fault: .refuse, ms: 2_000, cutEveryMs: 900, isLong: true),
      // Within the time that a command may take: late replies, in order.
      Phase(name: "stall", fault: .stall, ms: 3_000, isLong: true),
      Phase(
        name: "stall beyond the time-out", fault: .stall, ms: 9_000, outlastsLease: true,
        isLong: true),
      Phase(name: "half-open", fault: .halfOpen, ms: 9_000, outlastsLease: true, isLong: true),
      Phase(name: "blackhole", fault: .blackhole, ms: longMs, outlastsLease: true, isLong: true),
    ]
  }

  private func run(_ phase: Phase, _ trial: Trial, _ result: inout RowResult) async throws {
    var options = StageOptions()
    options.users = trial.isBrief ? 5_000 : 20_000
    options.workers = 2
    options.leaseSeconds = Self.leaseSeconds
    options.redis.hasProxy = true
    let (reckoning, (inHand, seconds), residentBytes, leases) = try await ChaosStage.with(
      trial, options
    ) {
      stage in
      let recovery = try await stage.underLoad { stage in
        try await ChaosStage.pause(ms: 1_000)
        let inHand = try await Self.apply(phase, stage)
        return (inHand, try await stage.secondsUntilProgress())
      }
      let records = try await stage.drain()
      return (
        try stage.reckon(records), recovery,
        await stage.fleet.residentBytesMax,
        await LostLeases(stage.fleet, outlasted: phase.outlastsLease)
      )
    }
    // No log tells of each job that was taken over.
    let lostJobs = trial.isOfSmallJobs && phase.outlastsLease ? inHand : 0
    result.take(reckoning, duplicatesMax: leases.duplicatesMax + lostJobs, phase.name)
    result.expectAllAccepted(reckoning, phase.name)
    if leases.count > 0 {
      result.note(
        "\(phase.name): lanes lost the lease of up to \(leases.count) chunks: "
          + "\(reckoning.duplicates) duplicates")
    }
    result.noteRecovery(seconds)
    result.expect(
      seconds <= trial.limit(Self.recoverySeconds),
      "\(phase.name): nothing went on within \(tenths(seconds)) s after it")
    result.expect(
      residentBytes <= ChaosLimits.residentBytesMax,
      "\(phase.name): a worker took \(residentBytes / 1_048_576) MiB")
  }

  /// - Returns: how many jobs and chunks were leased as it ended.
  private static func apply(_ phase: Phase, _ stage: ChaosStage) async throws -> Int {
    guard let proxy = stage.redisProxy else { throw ChaosError("this stage has no proxy") }
    await proxy.set(phase.fault)
    var leftMs = phase.ms
    while leftMs > 0 {
      let stepMs = min(leftMs, phase.cutEveryMs ?? leftMs)
      try await ChaosStage.pause(ms: stepMs)
      leftMs -= stepMs
      if phase.cutEveryMs != nil { await proxy.cut() }
    }
    let inHand = await stage.owners().count
    await proxy.set(.none)
    return inHand
  }
}
