import Model

/// Row 13: one app's flood beside another's single job.
struct FairnessRow: MatrixRow {
  let number = 13
  let fault = "app A floods, app B has one job"

  /// A tenth of the matrix's million: what a minute takes.
  private static let jobs = 100_000
  private static let campaigns = 4
  private static let limitSeconds = 2.0
  private static let patienceMs: UInt64 = 120_000
  private static let other = Crowd(app: "other", count: 100, userPrefix: "o")

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let jobs = trial.scaled(Self.jobs, atLeast: 2_000)
    try await run("\(jobs) jobs", trial, &result) { stage in
      try await Self.flood(jobs, stage)
    }
    try await run("\(Self.campaigns) campaigns", trial, &result) { stage in
      for _ in 0..<Self.campaigns { try await stage.enqueue(0..<stage.crowd.count) }
    }
    result.runs = 2
    return result
  }

  private func run(
    _ name: String, _ trial: Trial, _ result: inout RowResult,
    _ flood: (ChaosStage) async throws -> Void
  ) async throws {
    trial.say(name)
    var options = StageOptions()
    options.workers = 0
    options.otherApps = [Self.other.app]
    try await ChaosStage.with(trial, options) { stage in
      try await stage.install(Self.other)
      try await flood(stage)
      for _ in 0..<2 { try await stage.fleet.start() }
      _ = try await stage.eventually(Self.patienceMs) {
        AcceptLogFile.bytes(stage.acceptLog) > 0 ? true : nil
      }
      let start = ContinuousClock.now
      let single = try await stage.enqueue(0..<1, to: Self.other)
      let isDone = try await stage.eventually(Self.patienceMs) {
        try await stage.session.record(app: single.app, id: single.id)
          .flatMap { $0.state.isFinal ? true : nil }
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      result.note("\(name) of app A: app B's job was done after \(tenths(seconds)) s")
      result.noteRecovery(seconds)
      result.expect(
        isDone != nil && seconds <= Self.limitSeconds,
        "\(name) of app A: app B's one job took \(tenths(seconds)) s, at most "
          + "\(tenths(Self.limitSeconds)) s are allowed")
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: 0, name)
      result.expectAllAccepted(reckoning, name)
    }
  }

  /// Jobs of one user each, many on their way at a time.
  private static func flood(_ jobs: Int, _ stage: ChaosStage) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<jobs {
        if number >= ChaosLimits.commandsInFlight { try await group.next() }
        let user = number % stage.crowd.count
        group.addTask { try await stage.enqueue(user..<user + 1) }
      }
      try await group.waitForAll()
    }
  }
}
