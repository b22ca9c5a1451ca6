import LocalServices
import Redis
import Store

/// Row 12: workers are replaced one by one under load, beside another version of the functions.
struct RollingRestartRow: MatrixRow {
  let number = 12
  let fault = "rolling restart, function versions"

  private static let restarts = 20
  private static let pauseMs: ClosedRange<UInt64> = 200...1_500
  private static let otherVersion = "0ld0ld00"

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let restarts = trial.scaled(Self.restarts, atLeast: 3)
    return try await ChaosStage.with(trial, StageOptions(users: trial.users)) { stage in
      let unclean = try await stage.underLoad { stage in
        try await Self.restart(restarts, stage)
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = restarts
      result.expect(unclean == 0, "\(unclean) workers did not end with exit code 0")
      result.take(reckoning, duplicatesMax: 0)
      result.expectAllAccepted(reckoning)
      return result
    }
  }

  /// - Returns: how many workers did not leave in order.
  private static func restart(_ restarts: Int, _ stage: ChaosStage) async throws -> Int {
    var dice = stage.trial.dice(.faults)
    var unclean = 0
    for restart in 1...restarts {
      try await ChaosStage.pause(ms: dice.pick(pauseMs))
      stage.trial.say("restart \(restart) of \(restarts)")
      switch restart % 3 {
      case 1: try await loadOtherVersion(stage)
      // An older deployment that cleans up takes the newer functions away: they are loaded again.
      case 2:
        _ = try await stage.session.command(
          "FUNCTION", "DELETE", StoreLibrary.library.name)
      default:
        _ = try await stage.session.command("FUNCTION", "DELETE", "pushpool_\(otherVersion)")
      }
      let members = await stage.fleet.members
      let leaving = members[dice.pick(0...(members.count - 1))]
      // The new one comes first, as an orchestrator does it; for a moment there is one more.
      try await stage.fleet.start()
      if await !stage.fleet.stop(leaving) { unclean += 1 }
    }
    return unclean
  }

  private static func loadOtherVersion(_ stage: ChaosStage) async throws {
    let library = StoreLibrary.library
    let source = library.source.replacing(library.version, with: otherVersion)
    _ = try await stage.session.command("FUNCTION", "LOAD", "REPLACE", source)
  }
}
