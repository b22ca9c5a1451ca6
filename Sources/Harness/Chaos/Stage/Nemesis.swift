import Glibc
import LocalServices
import Model
import Stage
import Store
import Redis

/// One of the soak's faults; each is over when `strike` returns.
enum Nemesis: String, Sendable, CaseIterable {
  case kill
  case freeze
  case redisRestart = "restart of Redis"
  case redisNetwork = "network to Redis"
  case providerNetwork = "network to the push network"
  case provider = "push network"
  case functions = "functions flushed"
  case pause
  case cancel
  case restart = "rolling restart"

  /// - Returns: how many duplicates it explains.
  func strike(_ stage: ChaosStage, _ dice: inout SeededDice) async throws -> Int {
    switch self {
    case .kill:
      let victim = try await member(stage, &dice)
      await stage.fleet.kill(victim)
      try await stage.fleet.start()
      return stage.options.inHandMax
    case .freeze:
      let victim = try await member(stage, &dice)
      victim.child.signal(SIGSTOP)
      let leaseMs = UInt64(stage.options.leaseSeconds) * 1_000
      do { try await ChaosStage.pause(ms: dice.pick(500...(leaseMs + 2_000))) } catch {
        victim.child.signal(SIGCONT)
        throw error
      }
      victim.child.signal(SIGCONT)
      return stage.options.inHandMax
    case .redisRestart:
      await stage.crashRedis()
      try await ChaosStage.pause(ms: dice.pick(0...1_000))
      try await stage.redis.restart()
      return stage.options.workers * stage.options.inHandMax
    case .redisNetwork: return try await redisNetwork(stage, &dice)
    case .providerNetwork: return try await providerNetwork(stage, &dice)
    case .provider: return try await provider(stage, &dice)
    case .functions:
      try await stage.tell("FUNCTION", "FLUSH")
      return 0
    case .pause, .cancel: return try await stop(stage, &dice)
    case .restart:
      let leaving = try await member(stage, &dice)
      try await stage.fleet.start()
      try await stage.fleet.retire(leaving)
      return 0
    }
  }

  private func member(_ stage: ChaosStage, _ dice: inout SeededDice) async throws -> Fleet.Member {
    let members = await stage.fleet.members
    return members[dice.pick(0...(members.count - 1))]
  }

  private func redisNetwork(_ stage: ChaosStage, _ dice: inout SeededDice) async throws -> Int {
    let faults: [FaultProxy.Fault] = [
      .delay(ms: 1...50), .fragments, .stall, .blackhole, .halfOpen, .refuse,
      .resetMidReply(afterReads: 1...40), .resetMidRequest(afterReads: 1...40),
      .dropReply(afterReads: 1...40),
    ]
    await stage.redisProxy?.set(faults[dice.pick(0...(faults.count - 1))])
    try await ChaosStage.pause(ms: dice.pick(500...4_000))
    await stage.redisProxy?.set(.none)
    return stage.options.workers * stage.options.inHandMax
  }

  private func providerNetwork(_ stage: ChaosStage, _ dice: inout SeededDice) async throws -> Int {
    let faults: [FaultProxy.Fault] = [
      .delay(ms: 1...50), .stall, .blackhole, .refuse, .resetMidReply(afterReads: 1...40),
      .resetMidRequest(afterReads: 1...40),
    ]
    let before = await stage.providerProxy?.breaks ?? 0
    await stage.providerProxy?.set(faults[dice.pick(0...(faults.count - 1))])
    try await ChaosStage.pause(ms: dice.pick(500...2_500))
    await stage.providerProxy?.set(.none)
    let breaks = (await stage.providerProxy?.breaks ?? 0) - before
    // Requests that time out are sent again, too.
    return breaks * stage.options.streams + stage.options.workers * stage.options.inFlightMax
  }

  private func provider(_ stage: ChaosStage, _ dice: inout SeededDice) async throws -> Int {
    let scripts = [
      #""all": {"status": 503}"#, #""all": {"status": 429, "retry_after_seconds": 1}"#,
      #""all": {"action": "stall", "probability": 0.02}"#, #""goaway_after": 40"#,
      #""all": {"status": 500, "probability": 0.3}"#, #""early_answer": true"#,
    ]
    try await stage.simulator.follow(
      stage.options.script(scripts[dice.pick(0...(scripts.count - 1))]))
    try await ChaosStage.pause(ms: dice.pick(500...2_000))
    try await stage.simulator.follow(stage.options.health)
    return 0
  }

  private func stop(_ stage: ChaosStage, _ dice: inout SeededDice) async throws -> Int {
    let victim = try await stage.enqueue(0..<1_000)
    try await ChaosStage.pause(ms: dice.pick(0...500))
    let session = stage.session
    let state =
      self == .cancel
      ? try await session.cancel(app: victim.app, id: victim.id)
      : try await session.pause(app: victim.app, id: victim.id)
    // What no worker has taken in yet is not known, and what is done cannot be stopped.
    guard state == .cancelled || state == .paused else { return 0 }
    let nowMs = EpochClock.nowMs()
    stage.ledger.change(victim.number) { $0.stoppedAtMs = nowMs }
    if self == .pause {
      try await ChaosStage.pause(ms: dice.pick(500...3_000))
      let resumedAtMs = EpochClock.nowMs()
      stage.ledger.change(victim.number) { $0.resumedAtMs = resumedAtMs }
      _ = try await session.resume(app: victim.app, id: victim.id)
    }
    return 0
  }
}
