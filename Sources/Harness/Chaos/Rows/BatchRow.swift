import LocalServices
import Model
import Stage

/// Row 24: workers are killed while JPush has their requests of many pushes and has not answered. Whoever takes the chunks
/// over sends them again: under the same id where the same pushes come together again, which JPush recognises, and under
/// another where they do not.
struct BatchRow: MatrixRow {
  let number = 24
  let fault = "kill -9 of workers amid JPush's batches"

  private struct Phase {
    let name: String
    let workers: Int
  }

  private static let phases = [
    Phase(name: "one worker", workers: 1), Phase(name: "three workers", workers: 3),
  ]
  private static let kills = 15
  private static let killsMin = 2
  /// How many more there are until one has a request repeated: on a busy machine other pushes may come together again.
  private static let killsMore = 15
  private static let pushes = 300_000
  /// The delay of answers: so long that there are requests without an answer whenever a worker is killed.
  private static let answerMs = 300
  private static let pauseMs: ClosedRange<UInt64> = 0...200
  private static let patienceMs: UInt64 = 60_000

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    for phase in Self.phases where trial.wants(phase: phase.name, isLong: false) {
      try await Self.run(phase, trial, &result)
    }
    return result
  }

  private static func run(
    _ phase: Phase, _ trial: Trial, _ result: inout RowResult
  ) async throws {
    var options = StageOptions(users: trial.users)
    options.crowd.network = .jpush
    options.workers = phase.workers
    options.answerMs = answerMs
    let kills = trial.scaled(Self.kills, atLeast: killsMin)
    let pushes = trial.scaled(Self.pushes)
    let limitSeconds = trial.limit(Double(options.leaseSeconds) + ChaosLimits.recoverySeconds)
    try await ChaosStage.with(trial, options) { stage in
      let before = result.duplicates
      try await stage.judgeTakeover(within: limitSeconds, &result) { watch in
        try await stage.underLoad(pushesMin: pushes) { stage in
          try await Self.kill(kills, phase, stage, watch)
        }
      }
      result.runs += kills
      let counters = try await stage.simulator.counters()
      result.note(
        "\(phase.name): \(counters.repeatedPushes) pushes in \(counters.repeatedRequests) requests were repeated "
          + "under their ids and not delivered again, \(result.duplicates - before) were delivered twice"
      )
      result.expect(
        try await hasRepeated(phase, stage), "\(phase.name): no request was repeated under its id")
    }
  }

  /// Whether a request was repeated under its id, if that is to be: what one of several lanes loses the next one takes over as a
  /// whole.
  private static func hasRepeated(_ phase: Phase, _ stage: ChaosStage) async throws -> Bool {
    if phase.workers > 1 { return true }
    return try await stage.simulator.counters().repeatedRequests > 0
  }

  /// - Returns: how many duplicates the kills explain: all pushes of the chunks in hand, since a request's are all answered
  ///   at once.
  private static func kill(
    _ kills: Int, _ phase: Phase, _ stage: ChaosStage, _ watch: RecoveryWatch
  ) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var allowed = 0
    for kill in 1...(kills + killsMore) {
      if kill > kills, try await hasRepeated(phase, stage) { break }
      stage.trial.say(
        "\(phase.name): kill \(kill) of \(max(kill, kills)), \(stage.ledger.pushes) pushes enqueued"
      )
      let bytes = AcceptLogFile.bytes(stage.acceptLog)
      let accepts: Void? = try await stage.eventually(patienceMs) {
        AcceptLogFile.bytes(stage.acceptLog) > bytes ? () : nil
      }
      guard accepts != nil else { throw ChaosError("JPush accepts nothing any more") }
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      let members = await stage.fleet.members
      let victim = members[dice.pick(0...(members.count - 1))]
      await stage.fleet.kill(victim)
      allowed += await watch.add(victim) * Limits.chunkRecipientsMax
      try await stage.fleet.start()
      // What a worker takes over would be lost again before it could be sent.
      _ = try await stage.eventually(patienceMs) { await watch.isOver ? true : nil }
    }
    return allowed
  }
}
