import LocalServices
import Model

/// Row 28: workers and Redis are killed amid a job that keeps to a pace, and the network refuses some of it for now.
struct PaceRow: MatrixRow {
  let number = 28
  let fault = "kills of workers and Redis amid a paced job"

  private static let perSecond = 500
  private static let perSecondBrief = 100
  /// How long the job takes at its pace.
  private static let seconds = 60
  private static let secondsBrief = 12
  private static let windowMs: Int64 = 10_000
  private static let windowMsBrief: Int64 = 4_000
  /// By which part more than its pace may be sent in any window, beside what may leave at once.
  private static let tolerance = 0.05
  private static let burstSeconds = 0.25
  private static let faults: [Nemesis] = [
    .kill, .redisRestart, .freeze, .kill, .functions, .restart,
  ]
  private static let pauseMs: ClosedRange<UInt64> = 2_000...5_000

  func run(_ trial: Trial) async throws -> RowResult {
    let perSecond = trial.isBrief ? Self.perSecondBrief : Self.perSecond
    var options = StageOptions(
      users: perSecond * (trial.isBrief ? Self.secondsBrief : Self.seconds))
    options.redis.appendOnly = true
    // What a slow disk costs is not the question here.
    options.redis.appendSync = "always"
    var result = RowResult(number, fault)
    try await ChaosStage.with(trial, options) { stage in
      let entry = try await stage.enqueue(
        0..<options.users, more: #","pushes_per_second":\#(perSecond)"#)
      var dice = trial.dice(.faults)
      var allowed = 0
      while try await !hasEnded(entry, stage) {
        try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
        let fault = Self.faults[result.runs % Self.faults.count]
        trial.say("\(fault.rawValue), fault \(result.runs + 1)")
        allowed += try await fault.strike(stage, &dice)
        result.runs += 1
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: allowed)
      result.expectAllAccepted(reckoning)
      try judge(perSecond, stage, &result)
    }
    return result
  }

  private func hasEnded(_ entry: LedgerEntry, _ stage: ChaosStage) async throws -> Bool {
    try await stage.session.record(app: entry.app, id: entry.id)?.state.isFinal == true
  }

  /// Compares what was sent in the busiest window with the pace. Faults may make it less, and never more.
  private func judge(_ perSecond: Int, _ stage: ChaosStage, _ result: inout RowResult) throws {
    let windowMs = stage.trial.isBrief ? Self.windowMsBrief : Self.windowMs
    var times: [Int64] = []
    try AcceptLogFile.forEach(stage.acceptLog) { times.append($0.atMs) }
    times.sort()
    var (first, most) = (0, 0)
    for (last, atMs) in times.enumerated() {
      while times[first] <= atMs - windowMs { first += 1 }
      most = max(most, last - first + 1)
    }
    let windowSeconds = Double(windowMs) / 1_000
    let allowed = Double(perSecond) * (windowSeconds * (1 + Self.tolerance) + Self.burstSeconds)
    let share = Double(most) / (Double(perSecond) * windowSeconds)
    result.expect(
      Double(most) <= allowed,
      "\(most) pushes in \(windowSeconds) s, at \(perSecond) a second")
    result.note("in the busiest \(windowSeconds) s \(Int((share * 100).rounded())) % of the pace")
  }
}
