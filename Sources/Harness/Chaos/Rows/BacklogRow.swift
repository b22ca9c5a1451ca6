import LocalServices
import Model
import Redis
import Stage

/// Row 19: the network of a low-priority app is down under a backlog of chunks, and comes back. What has no room must not
/// fill Redis, nor stand before another app's work.
struct BacklogRow: MatrixRow {
  let number = 19
  let fault = "network down under a backlog, and back"

  /// Jobs of the backlog, a chunk each, which becomes more when its pushes are set aside one after the other.
  private static let jobs = 10_000
  private static let usersPerJob = 4
  private static let other = Crowd(app: "other", count: 20, prefix: "d1", userPrefix: "o")
  private static let downMs = 20_000
  private static let limitSeconds = 5.0
  /// The work that is set aside comes back at a pace, and is claimed and set aside again; traces of the first attempts are
  /// written meanwhile, some 5 %.
  private static let functionsPercentMax = 15.0
  private static let patienceMs: UInt64 = 180_000

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let jobs = trial.scaled(Self.jobs, atLeast: 200)
    var options = StageOptions()
    options.users = jobs * Self.usersPerJob
    options.otherApps = [Self.other.app]
    options.hasProviderProxy = true
    options.sparesOtherApps = true
    try await ChaosStage.with(trial, options) { stage in
      try await stage.install(Self.other)
      let trouble = #"{"token_prefix": "\#(stage.crowd.prefix)", "status": 503}"#
      try await stage.simulator.follow(options.script(#""rules": [\#(trouble)]"#))
      for job in 0..<jobs {
        let first = job * Self.usersPerJob
        try await stage.enqueue(first..<first + Self.usersPerJob, priority: .low)
      }
      // All of it is admitted and set aside, until there is more due than has room.
      let delayed = try await stage.eventually(Self.patienceMs) {
        let waiting = try await stage.session.command("XLEN", "pushpool:jobs:low").integer ?? 0
        let delayed = try await stage.session.command("ZCARD", "pushpool:delayed").integer ?? 0
        return waiting == 0 && delayed > 0 ? delayed : nil
      }
      result.expect(delayed != nil, "the backlog was not taken in")
      await stage.providerProxy?.set(.refuse)
      await stage.providerProxy?.cut()
      let share = try await Self.functionsPercent(
        stage, ms: trial.scaledMs(Self.downMs, atLeast: 3_000))
      let peak = try await stage.session.command("ZCARD", "pushpool:delayed").integer ?? 0
      // The first attempt of the other app's job fails, too: it goes through the same set.
      let once = #"{"token_prefix": "\#(Self.other.prefix)", "status": 503, "times": 1}"#
      try await stage.simulator.follow(options.script(#""rules": [\#(once)]"#))
      await stage.providerProxy?.set(.none)
      let start = ContinuousClock.now
      let single = try await stage.enqueue(0..<1, to: Self.other, priority: .high)
      let record = try await stage.eventually(Self.patienceMs) {
        try await stage.session.record(app: single.app, id: single.id)
          .flatMap { $0.state.isFinal ? $0 : nil }
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      result.runs = 1
      result.noteRecovery(seconds)
      result.note(
        "\(peak) chunks were delayed; functions took \(tenths(share)) % of Redis while the network was down, and "
          + "the other app's job, with a retry, \(tenths(seconds)) s after it was back")
      result.expect(record?.counts.retries == 1, "the other app's push was not tried again")
      let limitSeconds = trial.limit(Self.limitSeconds)
      result.expect(
        record != nil && seconds <= limitSeconds,
        "the other app's job took \(tenths(seconds)) s, at most \(tenths(limitSeconds)) s are allowed"
      )
      let limitPercent = trial.limit(Self.functionsPercentMax)
      result.expect(
        share <= limitPercent,
        "functions took \(tenths(share)) % of Redis, at most \(tenths(limitPercent)) % are allowed")
      let reckoning = try stage.reckon(try await stage.drain(hurrying: true))
      result.take(reckoning, duplicatesMax: 0)
      result.expectAllAccepted(reckoning)
    }
    return result
  }

  /// Returns the part of so many milliseconds in which Redis was running functions.
  private static func functionsPercent(_ stage: ChaosStage, ms: UInt64) async throws -> Double {
    func microseconds() async throws -> Int {
      let information = try await stage.session.command("INFO", "commandstats").string ?? ""
      for line in information.split(whereSeparator: \.isNewline)
      where line.hasPrefix("cmdstat_fcall:") {
        let used = line.split(separator: ",").first { $0.hasPrefix("usec=") }
        return Int(used?.dropFirst("usec=".count) ?? "") ?? 0
      }
      return 0
    }
    let clock = ContinuousClock()
    let (start, before) = (clock.now, try await microseconds())
    try await ChaosStage.pause(ms: ms)
    let spent = try await microseconds() - before
    return Double(spent) / ((clock.now - start) / .milliseconds(1)) / 10
  }
}
