import Model
import Redis

/// Row 13: one app's flood beside another's single job.
struct FairnessRow: MatrixRow {
  let number = 13
  let fault = "app A floods, app B has one job"

  private static let jobs = 1_000_000
  /// The jobs of a flood that is waited for to its end: what a minute takes.
  private static let drainedJobs = 100_000
  private static let batch = 1_000
  private static let campaigns = 4
  private static let limitSeconds = 2.0
  private static let patienceMs: UInt64 = 120_000
  /// Nothing of this row ends a lease, or has a request wait: on a busy machine these limits do not either.
  private static let leaseSeconds = 60
  private static let requestTimeoutSeconds = 30
  /// Of fewer that wait the workers may have sent all, before the other app's turn comes.
  private static let waitingMin = 15_000
  private static let other = Crowd(app: "other", count: 100, userPrefix: "o")

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let drained = trial.scaled(Self.drainedJobs, atLeast: 2_000)
    try await run("\(drained) jobs", trial, &result) { stage in
      try await Self.flood(drained, stage)
    }
    let jobs = trial.scaled(Self.jobs, atLeast: 20_000)
    try await run("\(jobs) jobs as they come", trial, &result, isDrained: false) { stage in
      try await Self.pour(jobs, stage)
    }
    result.runs = 2
    // As many pushes as take a debug build minutes.
    guard !trial.isBrief else { return result }
    try await run("\(Self.campaigns) campaigns", trial, &result) { stage in
      for _ in 0..<Self.campaigns { try await stage.enqueue(0..<stage.crowd.count) }
    }
    result.runs = 3
    return result
  }

  private func run(
    _ name: String, _ trial: Trial, _ result: inout RowResult, isDrained: Bool = true,
    _ flood: (ChaosStage) async throws -> Void
  ) async throws {
    trial.say(name)
    var options = StageOptions()
    if trial.isBrief { options.users = 2_000 }
    options.workers = 0
    options.otherApps = [Self.other.app]
    options.leaseSeconds = Self.leaseSeconds
    options.requestTimeoutSeconds = Self.requestTimeoutSeconds
    try await ChaosStage.with(trial, options) { stage in
      try await stage.install(Self.other)
      // A flood that is not waited for comes while the workers work, as it would.
      if isDrained { try await flood(stage) }
      for _ in 0..<2 { try await stage.fleet.start() }
      if !isDrained { try await flood(stage) }
      _ = try await stage.eventually(Self.patienceMs) {
        AcceptLogFile.bytes(stage.acceptLog) > 0 ? true : nil
      }
      let waiting = try await Self.waiting(stage)
      let start = ContinuousClock.now
      let single = try await stage.enqueue(0..<1, to: Self.other)
      let isDone = try await stage.eventually(Self.patienceMs) {
        try await stage.session.record(app: single.app, id: single.id)
          .flatMap { $0.state.isFinal ? true : nil }
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      result.note(
        "\(name) of app A: app B's job was done after \(tenths(seconds)) s, behind \(waiting) that waited"
      )
      result.noteRecovery(seconds)
      let left = try await Self.waiting(stage)
      result.expect(isDone != nil, "\(name) of app A: app B's one job was not done")
      result.expect(
        waiting < Self.waitingMin || left > 0,
        "\(name) of app A: none of \(waiting) jobs that waited still did when app B's one job was done"
      )
      // How fast a brief trial's machine is, nobody knows.
      result.expect(
        trial.isBrief || seconds <= Self.limitSeconds,
        "\(name) of app A: app B's one job took \(tenths(seconds)) s, at most "
          + "\(tenths(Self.limitSeconds)) s are allowed")
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: 0, name)
      result.expectAllAccepted(reckoning, name)
    }
  }

  private static func waiting(_ stage: ChaosStage) async throws -> Int {
    Int(try await stage.session.command("XLEN", "pushpool:jobs:normal").integer ?? 0)
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

  /// Floods as `flood` does, thousands of jobs on their way at a time. Most of these jobs are still waiting when the
  /// row ends, so they are not noted as acknowledged: of them only what is sent twice counts.
  private static func pour(_ jobs: Int, _ stage: ChaosStage) async throws {
    for first in stride(from: 0, to: jobs, by: batch) {
      let texts = (first..<min(first + batch, jobs)).map { number in
        let user = number % stage.crowd.count
        let entry = stage.ledger.open(app: stage.crowd.app, users: user..<user + 1)
        return stage.crowd.job(id: entry.id, topic: entry.topic, users: entry.users)
      }
      try await stage.session.add(texts)
      if first % 100_000 == 0 { stage.trial.say("\(first) of \(jobs) jobs poured") }
    }
  }
}
