import Glibc
import LocalServices
import Redis

/// Row 18: workers on machines whose clocks are an hour fast or slow, are set again and again, and stand still in
/// suspend. One worker's clock is right.
struct ClockRow: MatrixRow {
  let number = 18
  let fault = "a worker's clock is wrong, is set, stands still in suspend"

  private static let rounds = 20
  /// Less than any clock is wrong by: nothing of it may expire.
  private static let ttl = #","ttl_seconds":900"#
  private static let wrongMs: [Int64] = [3_600_000, -3_600_000, 1_200_000, -1_200_000, 86_400_000]
  private static let stepMs: ClosedRange<UInt64> = 100...600
  private static let steps = 4
  /// Beyond the lease.
  private static let extraMs: ClosedRange<UInt64> = 800...2_000
  private static let alarmMsMax: UInt64 = 20_000

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    var options = StageOptions(users: trial.isBrief ? 20_000 : trial.users)
    // The others are started with clocks of their own.
    options.workers = 1
    let rounds = trial.scaled(Self.rounds, atLeast: 2)
    return try await ChaosStage.with(trial, options) { stage in
      let shifts = try (1...2).map { try ClockShift(file: stage.file("clock-\($0)")) }
      var dice = trial.dice(.faults)
      for shift in shifts { try shift.set(realtimeMs: Self.draw(&dice)) }
      var members: [Fleet.Member] = []
      for shift in shifts {
        members.append(try await stage.fleet.start(environment: shift.environment))
      }
      result.runs = rounds
      let wrong = members
      let allowed = try await stage.underLoad(jobUsers: options.users, more: Self.ttl) { stage in
        try await Self.play(rounds, shifts, wrong, stage)
      }
      for shift in shifts { try shift.set(realtimeMs: 3_600_000) }
      let alarms = try await Self.alarms(of: members, stage)
      result.expect(alarms == 2, "\(alarms) of 2 wrong clocks are alarms")
      for shift in shifts { try shift.set() }
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: allowed)
      result.expectAllAccepted(reckoning)
      let refusals = await stage.fleet.logLines(with: "refused the provider token")
      result.expect(refusals == 0, "\(refusals) times a provider token was refused")
      let said = await stage.fleet.logLines(with: "Redis's clock")
      result.expect(said > 0, "no log tells of a wrong clock")
      result.note("the logs tell \(said) times of a clock that is wrong or right again")
      return result
    }
  }

  private static func draw(_ dice: inout SeededDice) -> Int64 {
    wrongMs[dice.pick(0...(wrongMs.count - 1))]
  }

  /// - Returns: how many duplicates the suspends explain.
  private static func play(
    _ rounds: Int, _ shifts: [ClockShift], _ members: [Fleet.Member], _ stage: ChaosStage
  ) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var allowed = 0
    var suspendedMs: [Int64] = [0, 0]
    for round in 1...rounds {
      stage.trial.say("clock \(round) of \(rounds), \(stage.ledger.pushes) pushes enqueued")
      // Whoever needs a token next signs one, with whatever clock.
      try await stage.session.forgetCredentials()
      let victim = dice.pick(0...1)
      for _ in 0..<steps {
        try shifts[victim].set(realtimeMs: draw(&dice), monotonicMs: -suspendedMs[victim])
        try await ChaosStage.pause(ms: dice.pick(stepMs))
      }
      guard round % 2 == 0 else { continue }
      let child = members[victim].child
      child.signal(SIGSTOP)
      allowed += stage.options.inHandMax
      let clock = ContinuousClock()
      let stopped = clock.now
      let leaseMs = UInt64(stage.options.leaseSeconds) * 1_000
      do { try await ChaosStage.pause(ms: leaseMs + dice.pick(extraMs)) } catch {
        child.signal(SIGCONT)
        throw error
      }
      suspendedMs[victim] += Int64((clock.now - stopped) / .milliseconds(1))
      try shifts[victim].set(realtimeMs: draw(&dice), monotonicMs: -suspendedMs[victim])
      child.signal(SIGCONT)
    }
    return allowed
  }

  private static func alarms(of members: [Fleet.Member], _ stage: ChaosStage) async throws -> Int {
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(alarmMsMax)
    while true {
      let fields = try await stage.session.command("HKEYS", "pushpool:alarms").array ?? []
      let count = members.count { member in
        fields.contains {
          $0.string.map { $0.hasPrefix("clock|") && $0.contains("-\(member.child.pid)-") } ?? false
        }
      }
      if count == members.count || clock.now >= deadline { return count }
      try await ChaosStage.pause(ms: ChaosLimits.pollMs)
    }
  }
}
