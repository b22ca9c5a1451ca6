import LocalServices
import Redis

/// Row 16: workers of unequal configuration. Most lack an app and the development environment of another; the ones that have
/// everything are killed and restarted under load, and in the end a rolling deployment gives it to all.
struct UnequalRow: MatrixRow {
  let number = 16
  let fault = "workers that lack an app or an environment"

  private static let rounds = 20
  private static let pauseMs: ClosedRange<UInt64> = 300...2_000
  private static let awayMs: ClosedRange<UInt64> = 0...1_500
  private static let jobUsers = 500
  private static let other = Crowd(app: "other", count: 5_000, userPrefix: "o")
  private static let lesser = 2

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    var options = StageOptions(users: trial.users, workers: 0)
    options.otherApps = [Self.other.app]
    options.lesserLack = [Self.other.app]
    options.crowd.hasDevelopment = true
    options.unroutedSeconds = 600
    let rounds = trial.scaled(Self.rounds, atLeast: 3)
    return try await ChaosStage.with(trial, options) { stage in
      try await stage.install(Self.other)
      for _ in 0..<Self.lesser { try await stage.fleet.start(lesser: true) }
      try await stage.fleet.start()
      try await Self.waitUntilAnnounced(stage)
      let kills = try await stage.underLoad { stage in
        let kills = try await Self.disturb(rounds, stage)
        try await Self.deploy(stage)
        return kills
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = rounds
      result.take(reckoning, duplicatesMax: kills * options.inHandMax)
      result.expectAllAccepted(reckoning)
      let letters = try await stage.deadLetters().count
      result.expect(
        letters == 0, "\(letters) dead letters, although somebody could send everything")
      let others = stage.ledger.entries.filter { $0.app == Self.other.app }
      result.note(
        "\(others.count) jobs of the app that most lacked, \(kills) kills and \(rounds - kills) restarts of the one that had it"
      )
      return result
    }
  }

  /// Waits until the fleet knows that somebody has everything: what nobody ever had is skipped, not left to others.
  private static func waitUntilAnnounced(_ stage: ChaosStage) async throws {
    _ = try await stage.eventually(ChaosLimits.startMsMax) {
      let digests = try await stage.session.command("ZCARD", "pushpool:routes").integer
      return digests == 2 ? true : nil
    }
  }

  /// Ends the worker that has everything and starts another. - Returns: how many were killed.
  private static func disturb(_ rounds: Int, _ stage: ChaosStage) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var kills = 0
    for round in 1...rounds {
      stage.trial.say("round \(round) of \(rounds)")
      for _ in 0..<4 {
        let first = dice.pick(0...(other.count - jobUsers))
        // A large one and a small one.
        try await stage.enqueue(first..<first + jobUsers, to: other)
        try await stage.enqueue(first..<first + 1, to: other)
      }
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      guard let knowing = await stage.fleet.members.last else { continue }
      if dice.pick(0...1) == 0 {
        await stage.fleet.kill(knowing)
        kills += 1
      } else {
        try await stage.fleet.retire(knowing)
      }
      try await ChaosStage.pause(ms: dice.pick(awayMs))
      try await stage.fleet.start()
    }
    return kills
  }

  /// Replaces one after the other of those that lack something.
  private static func deploy(_ stage: ChaosStage) async throws {
    for old in await stage.fleet.members.prefix(lesser) {
      try await stage.fleet.start()
      try await stage.enqueue(0..<jobUsers, to: other)
      try await stage.fleet.retire(old)
    }
  }
}
