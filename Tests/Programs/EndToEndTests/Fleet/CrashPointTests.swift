import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing

/// Row 2 of the fault matrix: a worker process that dies at each point before and after a call to Redis.
@Suite struct CrashPointTests {
  /// A call of a worker to Redis, and what brings a worker to make it.
  struct Call: Sendable {
    enum Need: Sendable {
      /// The jobs that every point gets.
      case usual
      /// SIGTERM while pushes are under way.
      case drain
      /// A job whose content is lost.
      case lostContent
      /// Jobs whose entries say no time, so that whoever admits them has to read their records anyway.
      case unknownTime
      /// A fleet of which Redis does not know what it can send to.
      case unknownRoutes
    }

    let name: String
    /// At which of its calls, apart from the first.
    var times = [1]
    var need = Need.usual
  }

  /// All functions that a worker calls but `reconcile`, which it does once a minute, and all other commands of it.
  static let calls = [
    // First in its shards: later the fleet has a token, and nobody asks for another one within 20 minutes.
    Call(name: "agree"),
    Call(name: "take_jobs", times: [1, 2]), Call(name: "reserve"),
    Call(name: "upload", times: [1, 2]),
    Call(name: "admit"), Call(name: "begin_direct"), Call(name: "end_direct"),
    Call(name: "admit_begun"),
    Call(name: "refuse"), Call(name: "claim", times: [1, 2]), Call(name: "reclaim"),
    Call(name: "heartbeat"), Call(name: "settle", times: [1, 2, 3]),
    Call(name: "hand_back", need: .drain), Call(name: "bury", need: .lostContent),
    Call(name: "promote"), Call(name: "beat"),
    Call(name: "forget", need: .drain), Call(name: "sweep_consumers", need: .drain),
    Call(name: "watch"), Call(name: "switches"), Call(name: "held_back"), Call(name: "trace"),
    Call(name: "oldest"), Call(name: "publish_routes", need: .unknownRoutes),
    Call(name: "announce_routes", times: [1, 2]),
    // Records; content and the fleet's token; users; tokens.
    Call(name: "HGETALL", need: .unknownTime),
    Call(name: "GET", need: .unknownTime),
    Call(name: "MGET", times: [1, 2]), Call(name: "HMGET"),
    // Waiting for work, the timeline, latencies.
    Call(name: "XREADGROUP"), Call(name: "XLEN"), Call(name: "ZCARD"), Call(name: "XADD"),
    Call(name: "HINCRBY"), Call(name: "EXPIRE"),
    // How Redis is set up.
    Call(name: "INFO"), Call(name: "XINFO"), Call(name: "XRANGE"), Call(name: "XREVRANGE"),
  ]

  /// What producers, backends and operators call, and what is only there for a test.
  private static let others: Set<String> = [
    "install", "create", "install_many", "amend", "uninstall", "invalidate", "set_badge", "pause",
    "resume",
    "cancel", "pace", "reschedule", "subscribe", "unsubscribe", "index_users", "mend_bindings",
    "export_installations", "export_subscribers",
    "find_waiting", "name_waiting", "has_job",
    "dead_list", "dead_retry", "dead_drop", "reconcile", "keys", "sections", "switch_off",
    "put_app", "remove_app",
  ]

  /// What a worker calls seldom or in other circumstances; nothing of a job hangs on it.
  private static let seldom: Set<String> = [
    "list_ahead", "keep_turns", "judge_entry", "fields", "variables", "draw_rate", "draw_pace",
    "raise_alarm",
    "clear_alarm", "unused_libraries", "mend_next", "rescue", "inspect_streams",
  ]

  /// What a worker calls when an answer was lost. Who dies at them leaves what it left at `take_jobs` and `claim`.
  private static let afterLosses: Set<String> = ["take_unanswered", "claim_unanswered"]

  /// What only jobs that raise badges call; `BadgeTests` dies at it.
  private static let badges: Set<String> = ["give_badges"]

  /// What only workers of a fleet of several shards call; `ShardTests` dies at the first. What dies at the second leaves what it left
  /// at `take_jobs`.
  private static let shardCalls: Set<String> = ["hand_over_job", "take_waiting"]

  /// What only workers of unequal configuration call.
  private static let routes = Set(RouteCrashPointTests.Call.allCases.map(\.rawValue))

  private static let points: [(name: String, need: Call.Need)] = calls.flatMap { call in
    call.times.flatMap { times in
      ["before", "after"].map { ("\($0) \(call.name):\(times)", call.need) }
    }
  }

  private static let shards = 6
  /// One lane with one connection: so many pushes are in flight at most.
  private static let inFlightMax = 20
  private static let worker = WorkerConfiguration.narrow(inFlightMax, leaseSeconds: 1)

  @Test("a worker that dies at a call to Redis loses nothing", arguments: 0..<shards)
  func diesAtCalls(shard: Int) async throws {
    let points = Self.points.enumerated().filter { $0.offset % Self.shards == shard }
    let script = SimulatorScript.stage { script in
      script.rules = [
        ScriptRule(tokenPrefix: "dead", status: 410, reason: "Unregistered"),
        ScriptRule(
          tokenPrefix: "d1", status: 429, reason: "TooManyRequests", retryAfterSeconds: 600),
      ]
      var slow = ScriptRule()
      slow.tokenPrefix = "c0"
      slow.delayMs = 1_000
      script.rules.append(slow)
      slow.tokenPrefix = "c1"
      slow.delayMs = 50
      script.rules.append(slow)
      for (number, _) in points {
        script.rules.append(
          ScriptRule(
            tokenPrefix: CrashMix.retriedPrefix(number), status: 503, reason: "ServiceUnavailable",
            times: 1))
      }
    }
    try await PushStage.with(script: script, worker: Self.worker, mostlyWaits: true) { stage in
      for (number, point) in points {
        try await die(
          at: point.name, point.need, CrashMix(number: number, isSlow: point.need == .drain), stage)
      }
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  private func die(
    at point: String, _ need: Call.Need, _ mix: CrashMix, _ stage: PushStage
  ) async throws {
    let client = stage.client
    try await client.install(try mix.installations())
    if need == .lostContent { try await loseContent(mix, stage) }
    if need == .unknownRoutes { try await forgetRoutes(stage) }
    for job in try mix.jobs() {
      guard need == .unknownTime else {
        _ = try await client.enqueue(job)
        continue
      }
      // A day ahead: nothing was added then.
      let aheadMs = try await client.serverMs() + 86_400_000
      _ = try await client.command("XADD", "pushpool:jobs:normal", "\(aheadMs)-*", "job", job)
    }
    let process = try stage.startProcess(crashAt: point)
    if need == .drain {
      _ = try await eventually("some of many are accepted") {
        let accepted = stage.simulator.acceptedPushes.map(\.token)
        return accepted.contains { mix.isOneOfMany($0) } ? true : nil
      }
      process.signal(SIGTERM)
    }
    guard await process.hasDied(at: point) else { return }
    let inHand = try await client.claimed("chunks") + client.claimed("jobs")
    try await stage.withWorkers { _ in
      for id in mix.ids(hasLost: need == .lostContent) {
        let record = try await client.finishedInHaste(id)
        #expect(record.isBalanced && record.pending == 0, "\(point): \(record)")
        let failed = id == mix.lostID ? 1 : 0
        #expect(record.counts.failed == failed, "\(point): \(record)")
        let doubtful = record.counts.uninstalled + record.counts.rejected
        #expect(doubtful <= 1 && record.counts.skipped == 0, "\(point): \(record)")
      }
      // A refused job is a dead letter of its own, once.
      _ = try await eventually("the bad job of \(point) is refused") {
        let letters = try await client.entries("dead")
        return letters.contains { $0["job"] == mix.badJob } ? true : nil
      }
    }
    let letters = try await client.entries("dead")
    #expect(letters.count { $0["job"] == mix.badJob } == 1, "\(point)")
    let expected = try mix.acceptedTokens()
    let accepted = stage.simulator.acceptedPushes.map(\.token).filter { mix.owns($0) }
    #expect(Set(accepted) == expected, "lost or never enqueued: \(point)")
    // In flight, and what was not settled yet of each chunk or job in hand; chunks of the many are two or three,
    // the others have a few recipients each, which are in flight or settled soon.
    let unsettled = min(inHand, CrashMix.chunksMax(isSlow: need == .drain)) * 100
    #expect(
      accepted.count - expected.count <= (inHand > 0 ? Self.inFlightMax + unsettled : 0), "\(point)"
    )
    #expect(try await client.claimedChunks() == 0, "\(point)")
  }

  /// A job that was admitted and waits for a retry when its content gets lost.
  private func loseContent(_ mix: CrashMix, _ stage: PushStage) async throws {
    let client = stage.client
    try await stage.withWorkers { _ in
      _ = try await client.enqueue(mix.lostJob)
      _ = try await eventually("it waits to be tried again") { try await client.nextDueMs() }
    }
    _ = try await client.command("DEL", "pushpool:content:shop:\(mix.lostID)")
    try await client.hurry()
  }

  private func forgetRoutes(_ stage: PushStage) async throws {
    let digests = try await stage.client.command("ZRANGE", "pushpool:routes", "0", "-1").array ?? []
    for digest in digests.compactMap(\.string) {
      _ = try await stage.client.command("DEL", "pushpool:routes:\(digest)")
    }
  }

  /// One chunk, 20 at a time and 100 ms each.
  private static let slow = SimulatorScript.stage { $0.delayMs = 100 }

  @Test("a worker killed within a chunk repeats only what was in flight or not settled")
  func repeatsLittle() async throws {
    try await PushStage.with(script: Self.slow, worker: Self.worker, mostlyWaits: true) { stage in
      try await stage.client.install(try Devices.apns(0..<250))
      _ = try await stage.client.enqueue(Devices.job("half", 0..<250))
      let process = try stage.startProcess()
      try await stage.waitUntilAccepted(180)
      await process.kill()
      try await stage.withWorkers { _ in
        let record = try await stage.client.finished("half")
        #expect(record.counts.accepted == 250 && record.isBalanced)
      }
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 250, "lost pushes")
      #expect(stage.duplicates <= Self.inFlightMax + 100)
    }
  }

  @Test("a worker that is frozen longer than its lease, alone, goes on without a duplicate")
  func goesOn() async throws {
    try await PushStage.with(script: Self.slow, worker: Self.worker, mostlyWaits: true) { stage in
      try await stage.client.install(try Devices.apns(0..<250))
      let process = try stage.startProcess()
      _ = try await stage.client.enqueue(Devices.job("alone", 0..<250))
      try await stage.waitUntilAccepted(60)
      process.signal(SIGSTOP)
      let frozenAtMs = try await stage.client.serverMs()
      _ = try await eventually("the lease ends") {
        try await stage.client.serverMs() > frozenAtMs + 2_000 ? true : nil
      }
      process.signal(SIGCONT)
      stage.expectDelivered(try await stage.client.finished("alone"), 250)
      await process.terminate()
    }
  }

  @Test("a lane that is given its own chunk after a silence carries it once")
  func carriesOnce() async throws {
    try await PushStage.with(script: Self.slow, worker: Self.worker, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<250))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("own", 0..<250))
        try await stage.waitUntilAccepted(20)
        // It looks as if the lane had been silent, for as long as two searches for abandoned chunks take.
        var claims = 0
        _ = try await eventually("half of it is accepted") {
          let isHalf = stage.simulator.counters.accepted >= 140
          let stream = "pushpool:chunks:normal"
          let pending = try await client.command("XPENDING", stream, "workers", "-", "+", "1")
          guard let entry = pending.array?.first?.array, entry.count == 4,
            let id = entry[0].string, let owner = entry[1].string
          else {
            guard isHalf else {
              throw NeverHappened(description: "the chunk ended before it was reclaimed")
            }
            return true
          }
          _ = try await client.command(
            "XCLAIM", stream, "workers", owner, "0", id, "IDLE", "60000", "JUSTID")
          claims += 1
          return isHalf ? true : nil
        }
        #expect(claims > 0)
        stage.expectDelivered(try await client.finished("own"), 250)
      }
    }
  }

  @Test("no function that a worker calls is without its crash points")
  func coversFunctions() async throws {
    try await RedisServer.with { server in
      let client = try StageClient(url: server.url)
      defer { client.stop() }
      let library = try await client.command("FUNCTION", "LIST").array?.first?.pairsOfValues
      let functions = library?["functions"]?.array?.compactMap {
        $0.pairsOfValues["name"]?.string?.split(separator: "_").dropFirst().dropLast()
          .joined(separator: "_")
      }
      let known = Self.others.union(Self.seldom).union(Self.afterLosses).union(Self.routes).union(
        Self.badges
      ).union(Self.shardCalls)
        .union(Self.calls.map(\.name))
      #expect(try #require(functions).isEmpty == false)
      #expect(Set(functions ?? []).subtracting(known) == [])
    }
  }
}

extension RESPValue {
  /// The values of a reply of names and values.
  fileprivate var pairsOfValues: [String: RESPValue] {
    let flat = array ?? []
    return Dictionary(
      stride(from: 0, to: flat.count - 1, by: 2).map { (flat[$0].string ?? "", flat[$0 + 1]) },
      uniquingKeysWith: { $1 })
  }
}
