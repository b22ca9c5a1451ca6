import Glibc
import LocalServices

/// Row 3: workers are frozen for longer than their lease, and wake up as zombies.
struct FreezeRow: MatrixRow {
  let number = 3
  let fault = "SIGSTOP beyond the lease, then CONT"

  private static let freezes = 20
  /// Beyond the lease.
  private static let extraMs: ClosedRange<UInt64> = 800...2_000
  private static let pauseMs: ClosedRange<UInt64> = 300...1_000
  private static let jobUsersBrief = 20_000
  /// The line of a worker's log when it hears STALE.
  static let staleLine = "not this worker's any more"

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let options = StageOptions(users: trial.isBrief ? Self.jobUsersBrief : trial.users)
    let freezes = trial.scaled(Self.freezes, atLeast: 2)
    let limitSeconds = trial.limit(Double(options.leaseSeconds) + ChaosLimits.recoverySeconds)
    return try await ChaosStage.with(trial, options) { stage in
      // Jobs that are still running when a zombie wakes up: it could spoil nothing of those that ended.
      let jobUsers = trial.isBrief ? Self.jobUsersBrief : options.users
      result.runs = freezes
      try await stage.judgeTakeover(within: limitSeconds, &result) { watch in
        try await stage.underLoad(jobUsers: jobUsers) { stage in
          try await Self.freeze(freezes, stage, watch)
        }
      }
      let stale = await stage.fleet.logLines(with: Self.staleLine)
      result.note("zombies heard STALE for \(stale) chunks")
      // A job of one user has been ended by others before a zombie wakes up.
      result.expect(
        stale > 0 || trial.isOfSmallJobs, "no zombie heard that its chunks are others' now")
      return result
    }
  }

  /// - Returns: how many duplicates the freezes explain: what was in flight, and of each chunk in hand what was
  ///   not settled.
  private static func freeze(
    _ freezes: Int, _ stage: ChaosStage, _ watch: RecoveryWatch
  ) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var allowed = 0
    for freeze in 1...freezes {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      let members = await stage.fleet.members
      let victim = members[dice.pick(0...(members.count - 1))]
      stage.trial.say("freeze \(freeze) of \(freezes), \(stage.ledger.pushes) pushes enqueued")
      victim.child.signal(SIGSTOP)
      let chunks = await watch.add(victim)
      allowed += stage.duplicates(ofLost: chunks)
      let leaseMs = UInt64(stage.options.leaseSeconds) * 1_000
      try await ChaosStage.pause(ms: leaseMs + dice.pick(extraMs))
      victim.child.signal(SIGCONT)
    }
    return allowed
  }
}
