import LocalServices
import Model
import Reactor
import Redis
import Testing

@testable import Store
@testable import Worker

@Suite struct IntakeTests {
  /// A turn that does not wait for more when it has taken all that there is.
  private static func turn(_ parts: LaneStage) async -> UInt64 {
    parts.admitSignal.raise()
    return await parts.intake.turn()
  }

  @Test("a turn takes jobs in, and has their chunks fetched", .timeLimit(.minutes(1)))
  func takesIn() async throws {
    try await LaneStage.with { _, parts in
      try await parts.enqueue("sale")
      #expect(await Self.turn(parts) == 0)
      #expect(try await parts.record("sale").total == 1)
      #expect(await parts.fetchSignal.wait(upToMs: 1))
    }
  }

  @Test("a turn without work waits until it is woken", .timeLimit(.minutes(1)))
  func waits() async throws {
    try await LaneStage.with { _, parts in
      let idle = parts.settings.shared.idle
      var wokenNs: UInt64?
      var timer: LoopTimer?
      timer = LoopTimer(loop: parts.loop) {
        if idle.kinds.contains(.jobs) {
          wokenNs = parts.loop.nowNs
          idle.wake(.jobs)
        } else {
          timer?.schedule(afterMs: 1)
        }
      }
      timer?.schedule(afterMs: 1)
      #expect(await parts.intake.turn() == 0)
      let passedNs = parts.loop.nowNs - (try #require(wokenNs))
      #expect(passedNs < WorkerLimits.idleLaneMsMax / 2 * 1_000_000)
      timer = nil
    }
  }

  @Test("jobs that waited for this worker's routes are taken in", .timeLimit(.minutes(1)))
  func takesRouted() async throws {
    try await LaneStage.with { _, parts in
      _ = try await parts.store.routes.announce(parts.context.snapshot.routes, waitMs: 60_000)
      try await parts.enqueue("sale")
      let entry = try #require(try await parts.store.jobs.take(consumer: "w", max: 1).first)
      _ = try await parts.store.routes.passOn(
        [JobOfUnknownApp(entry: entry, app: "shop", id: "sale", suggestion: nil)],
        consumer: "w", waitMs: 60_000)[0].get()
      parts.intake.noteRouted()
      _ = await Self.turn(parts)
      #expect(try await parts.record("sale").total == 1)
    }
  }

  @Test(
    "jobs that were leased by an answer that was lost are taken in without waiting for their lease",
    .timeLimit(.minutes(1)))
  func takesUnanswered() async throws {
    try await LaneStage.with { _, parts in
      try await parts.enqueue("before")
      _ = await Self.turn(parts)
      for id in ["one", "two"] { try await parts.enqueue(id) }
      // Redis answers, and nobody is told.
      #expect(
        try await parts.store.jobs.take(consumer: parts.settings.consumer, max: 4).count == 2)
      await parts.loseConnection()
      #expect(await parts.intake.turn() == WorkerLimits.redisPauseMs)
      try await parts.untilConnected()
      try await parts.enqueue("new")
      _ = await Self.turn(parts)
      for id in ["one", "two", "new"] { #expect(try await parts.record(id).total == 1) }
    }
  }

  @Test(
    "a job that Redis refuses to admit keeps no other waiting after a loss",
    .timeLimit(.minutes(1)))
  func passesRefusedJobs() async throws {
    try await LaneStage.with { _, parts in
      try await parts.enqueue("before")
      _ = await Self.turn(parts)
      try await parts.enqueue("refused")
      #expect(
        try await parts.store.jobs.take(consumer: parts.settings.consumer, max: 4).count == 1)
      // What is written there is no record.
      _ = try await parts.redis("SET", parts.store.keys.job(app: "shop", id: "refused"), "x")
      await parts.loseConnection()
      _ = await parts.intake.turn()
      try await parts.untilConnected()
      #expect(await parts.intake.turn() == WorkerLimits.redisPauseMs)
      try await parts.enqueue("other")
      _ = await Self.turn(parts)
      #expect(try await parts.record("other").total == 1)
    }
  }

  /// The ways in which Redis refuses everybody for a while, by the first word of what it says.
  enum Refusal: String, CaseIterable, Sendable {
    /// It writes for nobody without a replica.
    case withoutReplica = "NOREPLICAS"
    /// Its disk fails.
    case withoutDisk = "MISCONF"
    /// The user lacks a right.
    case withoutRight = "NOPERM"

    func begin(_ parts: LaneStage) async throws {
      switch self {
      case .withoutReplica: _ = try await parts.redis("CONFIG", "SET", "min-replicas-to-write", "1")
      case .withoutDisk: try await parts.server?.refuseWrites()
      case .withoutRight: _ = try await parts.redis("ACL", "SETUSER", "default", "-fcall")
      }
    }

    func end(_ parts: LaneStage) async throws {
      switch self {
      case .withoutReplica: _ = try await parts.redis("CONFIG", "SET", "min-replicas-to-write", "0")
      case .withoutDisk: try await parts.server?.takeWritesAgain()
      case .withoutRight: _ = try await parts.redis("ACL", "SETUSER", "default", "+fcall")
      }
    }
  }

  @Test(
    "jobs that Redis refused to begin are begun as soon as it does not, and not at the end of their lease",
    .timeLimit(.minutes(1)), arguments: Refusal.allCases, [true, false])
  func takesRefused(refusal: Refusal, sendsDirectly: Bool) async throws {
    try await LaneStage.with(sendsDirectly: sendsDirectly) { _, parts in
      try await parts.enqueue("before")
      _ = await Self.turn(parts)
      for id in ["one", "two"] { try await parts.enqueue(id) }
      let entries = try await parts.store.jobs.take(consumer: parts.settings.consumer, max: 4)
      #expect(entries.count == 2)
      try await refusal.begin(parts)
      await #expect(throws: RedisError.self) { try await parts.admitter.admit(entries) }
      #expect(await Self.turn(parts) == WorkerLimits.redisPauseMs)
      try await refusal.end(parts)
      _ = await Self.turn(parts)
      for id in ["one", "two"] {
        #expect(try await parts.record(id).state == (sendsDirectly ? .queued : .running))
      }
      #expect(try await parts.store.deadLetters.list(max: 5).isEmpty)
      #expect(parts.lines.all.count { $0.contains(refusal.rawValue) } == 1)
    }
  }

  /// Jobs that are leased to a lane which has not been heard of for long.
  private static func abandon(_ parts: LaneStage, _ ids: [String], by owner: String) async throws {
    for id in ids { try await parts.enqueue(id) }
    let entries = try await parts.store.jobs.take(consumer: owner, max: ids.count)
    #expect(entries.count == ids.count)
    for entry in entries {
      _ = try await parts.redis(
        "XCLAIM", parts.store.keys.jobs(.normal), "workers", owner, "0", entry.entry, "IDLE",
        "900000", "JUSTID")
    }
  }

  private static func isTakenIn(_ parts: LaneStage, _ id: String) async throws -> Bool {
    try await parts.store.jobs.record(app: "shop", id: id) != nil
  }

  @Test(
    "what a lane left lying is taken over without a pause, and then not looked for at each turn",
    .timeLimit(.minutes(1)), arguments: [false, true])
  func takesOver(isAlive: Bool) async throws {
    try await LaneStage.with(leaseMs: 800_000) { _, parts in
      if isAlive {
        _ = try await parts.store.workers.beat(worker: "silent", fields: [])
        _ = try await parts.redis("SET", parts.store.keys.workersSince, "1")
      }
      let ids = (0..<2 * WorkerLimits.admissionsMax).map { "job\($0)" }
      try await Self.abandon(parts, ids, by: "silent-0")
      for _ in 0..<2 { #expect(await Self.turn(parts) == 0) }
      for id in ids { #expect(try await Self.isTakenIn(parts, id)) }
      #expect(await Self.turn(parts) == 0)
      try await Self.abandon(parts, ["later"], by: "silent-0")
      try await parts.enqueue("new")
      #expect(await Self.turn(parts) == 0)
      #expect(try await Self.isTakenIn(parts, "new"))
      #expect(try await !Self.isTakenIn(parts, "later"))
    }
  }

  @Test(
    "a lane looks for what others left within a lease, and soon while it takes in all that it can",
    .timeLimit(.minutes(1)), arguments: [false, true])
  func looksAgain(isBusy: Bool) async throws {
    let leaseMs: UInt64 = isBusy ? 800_000 : 400
    try await LaneStage.with(leaseMs: leaseMs) { _, parts in
      let count = WorkerLimits.admissionsMax
      if isBusy { for number in 0..<count { try await parts.enqueue("new\(number)") } }
      #expect(await Self.turn(parts) == 0)
      try await Self.abandon(parts, ["left"], by: "silent-0")
      for _ in 0..<2_000 where try await !Self.isTakenIn(parts, "left") {
        _ = await Self.turn(parts)
        await parts.loop.sleep(ms: 5)
      }
      #expect(try await Self.isTakenIn(parts, "left"))
    }
  }

  @Test(
    "jobs that Redis refuses each time are not taken over before all others each time",
    .timeLimit(.minutes(1)))
  func looksLaterAfterRefusals() async throws {
    try await LaneStage.with(leaseMs: 800_000) { _, parts in
      let ids = (0..<2 * WorkerLimits.admissionsMax).map { "bad\($0)" }
      try await Self.abandon(parts, ids, by: "silent-0")
      for id in ids {
        _ = try await parts.redis("SET", parts.store.keys.job(app: "shop", id: id), "x")
      }
      try await parts.enqueue("good")
      #expect(await Self.turn(parts) == WorkerLimits.redisPauseMs)
      _ = await Self.turn(parts)
      #expect(try await Self.isTakenIn(parts, "good"))
    }
  }

  @Test(
    "a Redis that is away is asked again after a pause; then no more large jobs are waited for",
    .timeLimit(.minutes(1)))
  func ends() async throws {
    try await LaneStage.with { _, parts in
      parts.store.connection.close()
      #expect(await parts.intake.turn() == WorkerLimits.redisPauseMs)
      await parts.intake.finish()
      #expect(await parts.admitter.large.next() == nil)
    }
  }
}
