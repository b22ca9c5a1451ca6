import LocalServices
import Model
import Redis
import Stage

/// Row 20: one job has a value that makes its requests a breach of HTTP/2. That job alone suffers.
struct PoisonedRequestRow: MatrixRow {
  let number = 20
  let fault = "a poisonous value in one job"

  /// The network's answer to the poisoned requests, and their mark.
  private struct Phase {
    let name: String
    let action: String
    let prefix: String
  }

  private static let phases = [
    Phase(name: "reset", action: "reset", prefix: "dead0"),
    Phase(name: "goaway", action: "goaway", prefix: "dead1"),
  ]
  private static let poisoned = 200
  /// How long a job of another's may take beside it.
  private static let goodSecondsMax = 5.0
  private static let goodJobsMin = 5
  /// Good jobs go on until the poisoned one has ended: only while others are answered it is known to be its own trouble.
  private static let goodJobsMax = 400
  private static let goodUsers = 40
  private static let goodEveryMs: UInt64 = 250
  private static let patienceMs: UInt64 = 60_000

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    for phase in Self.phases where trial.wants(phase: phase.name, isLong: false) {
      trial.say(phase.name)
      try await Self.run(phase, trial, &result)
    }
    return result
  }

  private static func run(
    _ phase: Phase, _ trial: Trial, _ result: inout RowResult
  ) async throws {
    var options = StageOptions()
    options.users = 2_000
    options.workers = 2
    try await ChaosStage.with(trial, options) { stage in
      // PROTOCOL_ERROR
      try await stage.simulator.follow(
        options.script(
          #""rules": [{"token_prefix": "\#(phase.prefix)", "action": "\#(phase.action)", "reset_code": 1}]"#
        ))
      let crowd = Crowd(
        app: ChaosStage.app, count: trial.scaled(poisoned, atLeast: 40), prefix: phase.prefix,
        userPrefix: "poisoned")
      try await stage.install(crowd)
      // A header's value that is refused before anything is sent.
      try await stage.session.enqueue(
        stage.crowd.job(
          id: "header", topic: "com.example.shop", users: 0..<1, more: #","collapse_id":"sale ""#))
      let poison = try await stage.enqueue(0..<crowd.count, to: crowd)
      var slowest = 0.0
      for number in 0..<goodJobsMax {
        let start = ContinuousClock.now
        let first = number * goodUsers % options.users
        let good = try await stage.enqueue(first..<first + goodUsers)
        _ = try await stage.eventually(patienceMs) {
          try await stage.session.record(app: good.app, id: good.id)?.state.isFinal == true
            ? true : nil
        }
        slowest = max(slowest, (ContinuousClock.now - start) / .seconds(1))
        let poisonRecord = try await stage.session.record(app: poison.app, id: poison.id)
        if number + 1 >= goodJobsMin, poisonRecord?.state.isFinal == true { break }
        try await stage.hurry()
        try await ChaosStage.pause(ms: goodEveryMs)
      }
      result.expect(
        slowest <= trial.limit(goodSecondsMax),
        "\(phase.name): a good job took \(tenths(slowest)) s beside the poisoned one")
      let alarms = try await stage.session.command("HKEYS", "pushpool:alarms").array ?? []
      result.expect(alarms.isEmpty, "\(phase.name): the network's alarm stands for one job")
      let reckoning = try stage.reckon(try await stage.drain(hurrying: true))
      let goAways = try await stage.simulator.counters().goAways
      result.runs += 1
      // With a connection answers of others are lost.
      result.take(reckoning, duplicatesMax: goAways * options.streams, phase.name)
      result.expect(
        reckoning.rejected == crowd.count,
        "\(phase.name): \(reckoning.rejected) pushes were rejected, \(crowd.count) are poisoned")
      result.expect(reckoning.failed == 0, "\(phase.name): \(reckoning.failed) were given up")
      let letters = try await stage.deadLetters().filter { $0["field"] == "/collapse_id" }
      result.expect(letters.count == 1, "\(phase.name): the bad header was not refused")
      result.note(
        "\(phase.name): \(poison.users.count) poisoned, \(goAways) connections lost, good jobs done "
          + "within \(tenths(slowest)) s")
    }
  }
}
