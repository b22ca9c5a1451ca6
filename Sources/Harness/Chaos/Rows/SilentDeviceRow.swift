import LocalServices
import Model
import Stage

/// Row 17: users with one device and with many, one of which never answers, and workers that are killed meanwhile. What
/// is sent twice is bounded by devices: one that does not answer makes none of its user's others be sent again.
struct SilentDeviceRow: MatrixRow {
  let number = 17
  let fault = "kill -9 while a device of each user is silent"

  /// Users of one phase and their devices. The silent ones, a device of each user (of every tenth, where users have one),
  /// never fill what a worker can have in flight.
  private struct Phase {
    let users: Int
    let devices: Int

    var silentEvery: Int { max(devices, devices == 1 ? 10 : devices) }
  }

  private static let phases = [
    Phase(users: 4_000, devices: 1), Phase(users: 400, devices: 2), Phase(users: 400, devices: 10),
    Phase(users: 100, devices: 100),
  ]
  private static let usersMin = 40
  /// How long after the last answer everything but the silent devices may be unsettled: 200 ms, and what it takes to ask.
  private static let settledSecondsMax = 1.0
  private static let patienceMs: UInt64 = 60_000
  /// The delay of answers: so long that 100 of them take 40 ms. What comes in while Redis takes a settlement is few
  /// beside what the row bounds.
  private static let answerMs = 250
  /// The percentage of all answers that have come when a worker is killed amid them.
  private static let killPercent: ClosedRange<Int> = 20...80

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    for phase in Self.phases {
      let name = "\(phase.devices) devices"
      guard trial.wants(phase: name, isLong: false) else { continue }
      trial.say(name)
      try await Self.run(phase, name, trial, &result)
    }
    return result
  }

  private static func run(
    _ phase: Phase, _ name: String, _ trial: Trial, _ result: inout RowResult
  ) async throws {
    var options = StageOptions()
    options.users = trial.scaled(phase.users, atLeast: usersMin) * phase.devices
    options.crowd.devicesPerUser = phase.devices
    options.crowd.silentEvery = phase.silentEvery
    options.workers = 1
    options.connections = 1
    options.streams = 600
    options.answerMs = answerMs
    options.leaseSeconds = 1
    // The silent never run out of time.
    options.requestTimeoutSeconds = 120
    try await ChaosStage.with(trial, options) { stage in
      try await stage.simulator.follow(
        options.script(#""rules": [{"token_prefix": "\#(Crowd.silentPrefix)", "action": "stall"}]"#)
      )
      try await stage.install(first)
      let job = try await stage.enqueue(0..<options.users)
      let answered = (0..<options.users).count { !stage.crowd.isSilent($0) }
      // Amid the answers: of what is in flight, and of each chunk what is not settled.
      var dice = trial.dice(.faults)
      let due = answered * dice.pick(killPercent) / 100
      try await wait(stage, "\(due) of \(answered) pushes are accepted") {
        try log(stage, of: job).accepts >= due
      }
      let chunks = try await killWorker(stage)
      // Redis may be slow to take a settlement where it has no time to spare, and results come in meanwhile.
      let unsettled = trial.limit(Double(chunks * ChaosLimits.unsettledPerChunk))
      let allowed = options.inFlightMax + Int(unsettled)
      try await wait(stage, "\(answered) devices are reached") {
        try log(stage, of: job).reached >= answered
      }
      try await wait(stage, "what was answered is settled") {
        let record = try await stage.session.record(app: job.app, id: job.id)
        result.expect(record?.isBalanced != false, "\(name): the record does not add up")
        return (record?.counts.accepted ?? 0) >= answered
      }
      let before = try log(stage, of: job)
      // After the last accept: the second worker may have had to take the chunks over first.
      let seconds = Double(EpochClock.nowMs() - before.lastAtMs) / 1_000
      result.expect(
        seconds <= trial.limit(settledSecondsMax),
        "\(name): settled \(tenths(seconds)) s after the last answer")
      try await stage.simulator.follow(options.health)
      _ = try await killWorker(stage)
      result.runs += 2
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: allowed, name)
      result.expectAllAccepted(reckoning, name)
      result.expect(
        reckoning.duplicates == before.accepts - before.reached,
        "\(name): something that was settled has been sent again")
      result.note(
        "\(name): \(reckoning.duplicates) of \(answered) sent twice, at most \(allowed) explained")
    }
  }

  /// A user whose job comes first after a kill: a connection to APNs takes one request until its first answer, and that
  /// must not be a silent one.
  private static let first = Crowd(
    app: ChaosStage.app, count: 1, prefix: "c1", userPrefix: "first")

  /// Kills the only worker and starts another. - Returns: how many chunks it had in hand.
  private static func killWorker(_ stage: ChaosStage) async throws -> Int {
    guard let victim = await stage.fleet.members.first else { throw ChaosError("no worker") }
    await stage.fleet.kill(victim)
    let chunks = await stage.owners().count {
      victim.owns(consumer: $0.value) && $0.key.hasPrefix("pushpool:chunks:")
    }
    try await stage.enqueue(0..<1, to: first)
    try await stage.fleet.start()
    return chunks
  }

  /// Accepts of a job, how many devices they reached, and when the last of them was.
  private static func log(
    _ stage: ChaosStage, of job: LedgerEntry
  ) throws -> (accepts: Int, reached: Int, lastAtMs: Int64) {
    var accepts = 0
    var lastAtMs: Int64 = 0
    var reached: Set<Int> = []
    try AcceptLogFile.forEach(stage.acceptLog) { line in
      guard line.job == job.number, let device = line.user else { return }
      accepts += 1
      lastAtMs = max(lastAtMs, line.atMs)
      reached.insert(device)
    }
    return (accepts, reached.count, lastAtMs)
  }

  private static func wait(
    _ stage: ChaosStage, _ what: String, _ isSo: () async throws -> Bool
  ) async throws {
    let answer = try await stage.eventually(patienceMs) { try await isSo() ? true : nil }
    if answer == nil { throw ChaosError("\(what): not within \(patienceMs / 1_000) s") }
  }
}
