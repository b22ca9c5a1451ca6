import LocalServices
import Model
import Stage

/// Row 11: campaigns are cancelled and paused while they run; or many jobs of one user each, where the trial is of such.
struct StopRow: MatrixRow {
  let number = 11
  let fault = "cancel and pause of a running campaign"

  private static let stops = 20
  private static let patienceMs: UInt64 = 20_000
  private static let pauseMs: ClosedRange<UInt64> = 0...700
  private static let pausedMs: UInt64 = 2_500
  /// Jobs of one user each that are stopped at a time.
  private static let smallVictims = 4_000
  /// The delay of answers: so slow that many of the jobs wait.
  private static let smallAnswerMs = 300

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let stops = trial.scaled(Self.stops, atLeast: 2)
    var options = StageOptions()
    // Enough for a debug build to be at it when it is stopped.
    if trial.isBrief { options.users = 20_000 }
    if trial.isOfSmallJobs { options.answerMs = Self.smallAnswerMs }
    return try await ChaosStage.with(trial, options) { stage in
      var dice = trial.dice(.faults)
      var tooLate = 0
      for stop in 1...stops {
        let isPause = stop % 2 == 0
        trial.say("\(isPause ? "pause" : "cancellation") \(stop) of \(stops)")
        // A bystander, which must go on.
        try await stage.enqueue(0..<2_000)
        let victims = try await Self.enqueueVictims(stage)
        _ = try await stage.eventually(Self.patienceMs) {
          try await stage.session.record(app: victims[0].app, id: victims[0].id)
            .flatMap { $0.counts.accepted > 0 ? true : nil }
        }
        if victims.count == 1 { try await ChaosStage.pause(ms: dice.pick(Self.pauseMs)) }
        // Those that come last first: they can be stopped in time.
        let stopped =
          isPause
          ? try await Self.pause(victims.reversed(), stage)
          : try await Self.cancel(victims.reversed(), stage)
        if stopped == 0 { tooLate += 1 }
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = stops
      result.take(reckoning, duplicatesMax: 0)
      result.expect(reckoning.failed == 0, "\(reckoning.failed) pushes were given up")
      result.expect(reckoning.rejected == 0, "\(reckoning.rejected) pushes count as rejected")
      result.expect(reckoning.skipped > 0, "no push was skipped: nothing was cancelled in time")
      if tooLate > 0 { result.note("\(tooLate) of \(stops) stops came when all was sent") }
      return result
    }
  }

  private static func enqueueVictims(_ stage: ChaosStage) async throws -> [LedgerEntry] {
    guard stage.trial.isOfSmallJobs else {
      return [try await stage.enqueue(0..<stage.crowd.count)]
    }
    return try await stage.enqueue((0..<smallVictims).map { $0..<$0 + 1 })
  }

  /// - Returns: how many were stopped before their end.
  private static func cancel(_ victims: [LedgerEntry], _ stage: ChaosStage) async throws -> Int {
    var stopped = 0
    for victim in victims {
      let state = try await stage.session.cancel(app: victim.app, id: victim.id)
      // What nobody has taken in yet has no record to be stopped by.
      guard let state else { continue }
      if state == .cancelled { stopped += 1 }
      let nowMs = EpochClock.nowMs()
      stage.ledger.change(victim.number) { $0.stoppedAtMs = nowMs }
    }
    return stopped
  }

  /// - Returns: how many were stopped before their end.
  private static func pause(_ victims: [LedgerEntry], _ stage: ChaosStage) async throws -> Int {
    var stopped: [LedgerEntry] = []
    for victim in victims {
      let state = try await stage.session.pause(app: victim.app, id: victim.id)
      guard let state else { continue }
      if state == .paused { stopped.append(victim) }
      let nowMs = EpochClock.nowMs()
      stage.ledger.change(victim.number) { $0.stoppedAtMs = nowMs }
    }
    try await ChaosStage.pause(ms: pausedMs)
    for victim in stopped {
      let resumedAtMs = EpochClock.nowMs()
      stage.ledger.change(victim.number) { $0.resumedAtMs = resumedAtMs }
      _ = try await stage.session.resume(app: victim.app, id: victim.id)
    }
    return stopped.count
  }
}
