import Glibc
import LocalServices
import Model
import Stage

/// Row 2: a worker that dies before or after a call to Redis, once for each kind of call.
///
/// Only debug builds have these points. `make test` visits a few more: those that need what no ordinary load
/// brings about, such as a job whose content is lost, or a job of few users that ends within half a lease.
struct CrashPointRow: MatrixRow {
  let number = 2
  let fault = "kill at each crash point"

  /// The calls of a worker with the work that each point gets.
  private static let calls = [
    "take_jobs", "begin_direct", "admit_begun", "reserve", "upload", "admit", "refuse", "claim",
    "claim:2", "reclaim", "heartbeat", "settle", "settle:2", "settle:3", "promote", "beat", "agree",
    "watch", "switches", "held_back", "trace", "oldest",
    "GET", "MGET", "MGET:2", "HMGET", "XREADGROUP", "XADD", "HINCRBY", "EXPIRE",
  ]
  /// The calls of a worker that is told to end.
  private static let lastCalls: Set = ["hand_back", "forget", "sweep_consumers"]
  private static let triesMax = 3
  /// More than one chunk.
  private static let jobUsers = 300
  /// Their names are so long that segments of that many are uploaded before their job is admitted.
  private static let longPrefix = "user-of-a-long-name-" + String(repeating: "x", count: 60) + "-"
  private static let fewUsers = 5
  private static let patienceMs: UInt64 = 20_000

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    guard let trial = trial.withDebugWorkers() else {
      result.notRun =
        "it needs a debug build, which has the points: `swift build --product pushpool`, or `make chaos`"
      return result
    }
    let names = Self.calls + Self.lastCalls.sorted()
    let all = names.flatMap { ["before \($0)", "after \($0)"] }
    let every = max(1, Int((1 / trial.scale).rounded()))
    let points = all.enumerated().filter { $0.offset % every == 0 }.map(\.element)
    var options = StageOptions()
    options.users = 20_000
    options.workers = 0
    options.leaseSeconds = 1
    options.connections = 1
    options.streams = 20
    return try await ChaosStage.with(trial, options) { stage in
      let few = try await Self.installFew(stage)
      var allowed = 0
      var tries = 0
      for (number, point) in points.enumerated() {
        trial.say("\(point), \(number + 1) of \(points.count)")
        // Counts its refusals anew.
        try await stage.simulator.follow(options.script(Self.rules))
        var chunks: Int?
        // One that is done before it is told to end has nothing to hand back.
        for _ in 0..<Self.triesMax where chunks == nil {
          try await Self.enqueue(tries, few, stage)
          tries += 1
          chunks = try await Self.die(at: point, stage)
        }
        guard let chunks else {
          result.fail("the point \"\(point)\" was not visited")
          continue
        }
        if chunks > 0 { allowed += options.inFlightMax + chunks * ChaosLimits.unsettledPerChunk }
        // Others finish what it left: a chunk that one after another crashed with would be a dead letter.
        for _ in 0..<2 { try await stage.fleet.start() }
        _ = try await stage.drain(hurrying: true)
        await stage.fleet.killAll()
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = points.count
      result.take(reckoning, duplicatesMax: allowed)
      result.expectAllAccepted(reckoning)
      let letters = try await stage.deadLetters()
      result.expect(
        letters.count == tries && letters.allSatisfy { $0["kind"] == "job" },
        "\(letters.count) dead letters of \(tries) bad jobs")
      return result
    }
  }

  /// Devices that answer late, so that leases have to be renewed, and one that is tried again.
  private static let rules = """
    "rules": [{"token_prefix": "f1", "delay_ms": 900}, \
    {"token_prefix": "f2", "status": 429, "reason": "TooManyRequests", "times": 1}]
    """

  private struct Few: Sendable {
    let slow: Crowd
    let retried: Crowd
    let long: Crowd
  }

  private static func installFew(_ stage: ChaosStage) async throws -> Few {
    let few = Few(
      slow: Crowd(app: ChaosStage.app, count: fewUsers, prefix: "f1", userPrefix: "slow"),
      retried: Crowd(app: ChaosStage.app, count: fewUsers, prefix: "f2", userPrefix: "retried"),
      long: Crowd(app: ChaosStage.app, count: jobUsers, prefix: "f3", userPrefix: longPrefix))
    for crowd in [few.slow, few.retried, few.long] { try await stage.install(crowd) }
    return few
  }

  /// Enqueues what makes a worker call everything: a bad job, chunks of segments that are told and of uploaded ones,
  /// late answers, retries, tokens.
  private static func enqueue(_ number: Int, _ few: Few, _ stage: ChaosStage) async throws {
    try await stage.session.enqueue(Array("bad \(number)".utf8))
    try await stage.enqueue(0..<fewUsers, to: few.slow)
    try await stage.enqueue(0..<fewUsers, to: few.retried)
    let entry = stage.ledger.open(app: ChaosStage.app, users: 0..<2)
    let tokens = entry.users.map {
      #"{"network":"apns","token":"\#(stage.crowd.tokenText($0))"}"#
    }
    let job = """
      {"id":"\(entry.id)","app":"\(entry.app)","notification":{"title":"Chaos"},"apns":{"topic":"\(entry.topic)"},\
      "audience":{"installations":[\(tokens.joined(separator: ","))]}}
      """
    try await stage.session.enqueue(Array(job.utf8))
    stage.ledger.acknowledge(entry.number)
    let first = number * jobUsers % (stage.crowd.count - jobUsers)
    try await stage.enqueue(first..<first + jobUsers)
    try await stage.enqueue(0..<jobUsers, to: few.long)
  }

  /// - Returns: how many chunks the worker had in hand when it died; nil when it did not.
  private static func die(at point: String, _ stage: ChaosStage) async throws -> Int? {
    // A worker that finds a token of the fleet agrees on none.
    try await stage.session.forgetCredentials()
    let before = AcceptLogFile.bytes(stage.acceptLog)
    let victim = try await stage.fleet.start(environment: ["PUSHPOOL_CRASH_AT": point])
    if lastCalls.contains(where: { point.hasSuffix($0) }) {
      _ = try await stage.eventually(patienceMs) {
        AcceptLogFile.bytes(stage.acceptLog) > before ? true : nil
      }
      victim.child.signal(SIGTERM)
    }
    let exit = await victim.child.waitForExit(timeoutMs: patienceMs)
    await stage.fleet.kill(victim)
    guard exit == .signal(SIGKILL) else { return nil }
    return await stage.owners().count {
      $0.key.hasPrefix("pushpool:chunks:") && victim.owns(consumer: $0.value)
    }
  }
}
