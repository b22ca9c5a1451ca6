import LocalServices
import Model
import Stage

/// Row 11: campaigns are cancelled and paused while they run.
struct StopRow: MatrixRow {
  let number = 11
  let fault = "cancel and pause of a running campaign"

  private static let stops = 20
  private static let patienceMs: UInt64 = 20_000
  private static let pauseMs: ClosedRange<UInt64> = 0...700
  private static let pausedMs: UInt64 = 2_500

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let stops = trial.scaled(Self.stops, atLeast: 2)
    var options = StageOptions()
    // Enough for a debug build to be at it when it is stopped.
    if trial.isBrief { options.users = 20_000 }
    return try await ChaosStage.with(trial, options) { stage in
      var dice = trial.dice(.faults)
      var tooLate = 0
      for stop in 1...stops {
        let isPause = stop % 2 == 0
        trial.say("\(isPause ? "pause" : "cancellation") \(stop) of \(stops)")
        // A bystander, which must go on.
        try await stage.enqueue(0..<2_000)
        let victim = try await stage.enqueue(0..<stage.crowd.count)
        _ = try await stage.eventually(Self.patienceMs) {
          try await stage.session.record(app: victim.app, id: victim.id)
            .flatMap { $0.counts.accepted > 0 ? true : nil }
        }
        try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
        let isStopped =
          isPause
          ? try await Self.pause(victim, stage) : try await Self.cancel(victim, stage)
        if !isStopped { tooLate += 1 }
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

  private static func cancel(_ victim: LedgerEntry, _ stage: ChaosStage) async throws -> Bool {
    let state = try await stage.session.cancel(app: victim.app, id: victim.id)
    let nowMs = EpochClock.nowMs()
    stage.ledger.change(victim.number) { $0.stoppedAtMs = nowMs }
    return state == .cancelled
  }

  private static func pause(_ victim: LedgerEntry, _ stage: ChaosStage) async throws -> Bool {
    let state = try await stage.session.pause(app: victim.app, id: victim.id)
    let nowMs = EpochClock.nowMs()
    stage.ledger.change(victim.number) { $0.stoppedAtMs = nowMs }
    try await ChaosStage.pause(ms: pausedMs)
    let resumedAtMs = EpochClock.nowMs()
    stage.ledger.change(victim.number) { $0.resumedAtMs = resumedAtMs }
    _ = try await stage.session.resume(app: victim.app, id: victim.id)
    return state == .paused
  }
}
