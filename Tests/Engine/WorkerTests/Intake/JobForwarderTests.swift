import Model
import Providers
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

/// Jobs that were added in another shard than that of their app, by a lane of the shard `main`.
@Suite struct JobForwarderTests {
  /// The way into the shard `eu`.
  private actor Door: ShardDoor {
    private(set) var texts: [String] = []
    /// Why jobs are not added; nil when they are.
    private var failure: RedisError?
    private var isAway = false
    /// By how much the clock there is ahead.
    private var aheadMs: Int64 = 0

    func set(aheadMs: Int64) { self.aheadMs = aheadMs }
    func nowMs() async -> Int64 { WallClock.system.nowMs() + aheadMs }

    func fail(by error: RedisError?) { failure = error }
    func leave() { isAway = true }
    func comeBack() { isAway = false }

    func isThere() async -> Bool { !isAway }

    func add(_ jobs: [(text: [UInt8], priority: Priority)]) async -> [RedisError?] {
      texts += jobs.map { String(decoding: $0.text, as: UTF8.self) }
      return jobs.map { _ in failure }
    }
  }

  private static func with(
    leaseMs: UInt64 = 10_000,
    _ body: @Sendable (isolated TestLane, LaneStage, JobForwarder, Door) async throws -> Void
  ) async throws {
    let (main, eu) = (try ShardID("main"), try ShardID("eu"))
    let door = Door()
    let doors = ShardDoors([main, eu])
    doors.open(eu, by: door)
    try await LaneStage.with(
      leaseMs: leaseMs, shard: main, doors: doors, elsewhere: AppsElsewhere(named: ["other": eu])
    ) { lane, parts in
      let forwarder = try #require(parts.passingOn?.forwarders.first)
      // As the watch on the routes tells it.
      parts.settings.shared.routes.use(
        RouteNews(hasWork: false, isAnythingWaiting: true, isGathering: false, digests: []),
        new: [:])
      try await body(lane, parts, forwarder, door)
    }
  }

  private static let nameless =
    #"{"app":"other","audience":{"users":["u"]},"notification":{"title":"t"}}"#

  private static func left(_ parts: LaneStage) async throws -> Int {
    try await parts.redis("XLEN", "{pp}:jobs:normal").integer ?? 0
  }

  private static func waiting(_ parts: LaneStage) async throws -> Int {
    try await parts.redis("ZCARD", "{pp}:unrouted:jobs:other").integer ?? 0
  }

  @Test("a job is added in the shard of its app and ended here, in this order")
  func passesOn() async throws {
    try await Self.with { _, parts, forwarder, door in
      try await parts.takeIn(id: "sale", users: ["u"], app: "other")
      #expect(await door.texts.isEmpty)
      #expect(try await Self.left(parts) == 1)
      _ = await forwarder.turn()
      #expect(await door.texts.count == 1)
      #expect(try await Self.left(parts) == 0)
      #expect(forwarder.queue.inHand.isEmpty && forwarder.queue.isOpen)
    }
  }

  @Test(
    "a job that another shard does not take now is held, with its lease, until that does",
    arguments: [
      RedisError.unavailable(reason: "away"), .server(code: "LOADING", message: "Redis is loading"),
      .server(code: "OOM", message: "command not allowed"), .tooManyPending,
    ])
  func holds(failure: RedisError) async throws {
    try await Self.with(leaseMs: 0) { _, parts, forwarder, door in
      await door.fail(by: failure)
      try await parts.takeIn(id: "sale", users: ["u"], app: "other")
      for _ in 0..<2 { _ = await forwarder.turn() }
      #expect(try await Self.waiting(parts) == 0)
      #expect(!forwarder.queue.isOpen && forwarder.queue.inHand.count == 1)
      // Its lease is renewed: nobody else takes it.
      func isLeft() async throws -> Bool {
        try await parts.redis(
          "XPENDING", "{pp}:jobs:normal", "workers", "IDLE", "60000", "-", "+", "9") != .array([])
      }
      let entry = try #require(forwarder.queue.inHand.first)
      _ = try await parts.redis(
        "XCLAIM", "{pp}:jobs:normal", "workers", "test-0", "0", entry.entry, "IDLE", "500000")
      #expect(try await isLeft())
      let leases = try #require(parts.passingOn?.leases)
      _ = await leases.turn()
      #expect(try await !isLeft())
      await door.fail(by: nil)
      _ = await forwarder.turn()
      #expect(try await Self.left(parts) == 0)
      #expect(await Set(door.texts).count == 1)
    }
  }

  @Test(
    "a job that may have been added there is never left to wait here, and is added again under its id",
    arguments: [
      RedisError.connectionLost(reason: "gone"), .timeout, .protocolViolation("unreadable"),
    ])
  func mayBeThere(failure: RedisError) async throws {
    try await Self.with { _, parts, forwarder, door in
      forwarder.nowNs = { [loop = parts.loop] in
        loop.nowNs + WorkerLimits.heldElsewhereMs * 2_000_000
      }
      await door.fail(by: failure)
      try await parts.takeIn(Self.nameless.replacing("{\"app", with: "{\"ttl_seconds\":900,\"app"))
      _ = await forwarder.turn()
      // The text stays as it was, also when the job has waited for long by now.
      forwarder.clockMs = { [clock = parts.context.shared.clock] in clock.nowMs + 600_000 }
      // What is sure the second time is so for that time alone.
      await door.fail(by: .unavailable(reason: "away"))
      _ = await forwarder.turn()
      #expect(try await Self.waiting(parts) == 0)
      #expect(forwarder.queue.inHand.count == 1)
      await door.fail(by: nil)
      _ = await forwarder.turn()
      #expect(try await Self.left(parts) == 0)
      let texts = await door.texts
      #expect(texts.count == 3 && Set(texts).count == 1)
      #expect(texts.allSatisfy { $0.contains(#""id":"main-n"#) }, "\(texts)")
    }
  }

  @Test(
    "a job that has waited for its shard does not expire by a clock of that which is an hour ahead")
  func clocks() async throws {
    try await Self.with { _, parts, forwarder, door in
      await door.set(aheadMs: 3_600_000)
      try await parts.takeIn(Self.nameless.replacing("{\"app", with: "{\"ttl_seconds\":900,\"app"))
      let before = WallClock.system.nowMs()
      forwarder.clockMs = { [clock = parts.context.shared.clock] in clock.nowMs + 70_000 }
      _ = await forwarder.turn()
      let text = try #require(await door.texts.first)
      guard case .at(let ms)? = try Job(bytes: Array(text.utf8)).content.expiry else {
        Issue.record("it has no instant: \(text)")
        return
      }
      // A machine's clock and Redis's are the same here, and the difference is in steps.
      #expect(abs(ms - (before + 900_000 + 3_600_000 - 70_000)) <= 60_000, "\(ms - before)")
    }
  }

  @Test("a job that was added there is ended here, however late, and not added again")
  func endsLater() async throws {
    try await Self.with { _, parts, forwarder, door in
      try await parts.takeIn(id: "sale", users: ["u"], app: "other")
      let entry = try #require(forwarder.queue.inHand.first)
      _ = try await parts.redis("RENAME", "{pp}:jobs:normal", "{pp}:away")
      _ = try await parts.redis("SET", "{pp}:jobs:normal", "something else")
      _ = await forwarder.turn()
      #expect(forwarder.queue.has(entry))
      _ = try await parts.redis("RENAME", "{pp}:away", "{pp}:jobs:normal")
      _ = await forwarder.turn()
      #expect(try await Self.left(parts) == 0)
      #expect(await door.texts.count == 1)
    }
  }

  @Test(
    "after minutes it waits as a job that no worker has, and is taken back when its shard is there")
  func takesBack() async throws {
    try await Self.with { _, parts, forwarder, door in
      await door.fail(by: .unavailable(reason: "away"))
      for id in ["a", "b", "c"] { try await parts.takeIn(id: id, users: ["u"], app: "other") }
      forwarder.nowNs = { [loop = parts.loop] in
        loop.nowNs + WorkerLimits.heldElsewhereMs * 1_000_000
      }
      _ = await forwarder.turn()
      #expect(try await Self.waiting(parts) == 3)
      #expect(forwarder.queue.inHand.isEmpty)
      // While it is away they are let be.
      await door.leave()
      #expect(await forwarder.turn() > 0)
      #expect(try await Self.waiting(parts) == 3)
      await door.comeBack()
      await door.fail(by: nil)
      // One by which it shows that the shard takes jobs, and the others.
      _ = await forwarder.turn()
      #expect(try await Self.waiting(parts) == 2)
      for _ in 0..<3 { _ = await forwarder.turn() }
      #expect(try await Self.waiting(parts) == 0)
      #expect(try await Self.left(parts) == 0)
      #expect(try await parts.store.deadLetters.count() == 0)
    }
  }

  @Test("a job that is cancelled or paused where it was added is not added in its shard")
  func heeded() async throws {
    try await Self.with { _, parts, forwarder, door in
      for (id, state) in [("a", "cancelled"), ("b", "paused"), ("c", "queued")] {
        try await parts.takeIn(id: id, users: ["u"], app: "other")
        let entry = try #require(forwarder.queue.inHand.last)
        _ = try await parts.redis(
          "HSET", "{pp}:job:other:\(id)", "state", state, "source", entry.source)
      }
      _ = await forwarder.turn()
      let texts = await door.texts
      #expect(texts.count == 1 && texts[0].contains(#""id":"c""#), "\(texts)")
      #expect(try await Self.left(parts) == 1)
      #expect(try await parts.redis("HGET", "{pp}:job:other:a", "state").string == "cancelled")
      #expect(try await parts.redis("TTL", "{pp}:job:other:a").integer ?? 0 > 0)
      #expect(try await parts.redis("EXISTS", "{pp}:job:other:c").integer == 0)
      // It waits here until somebody has it go on.
      #expect(await forwarder.turn() > 0)
      #expect(try await Self.waiting(parts) == 1)
      _ = try await parts.redis("HSET", "{pp}:job:other:b", "state", "queued")
      for _ in 0..<2 { _ = await forwarder.turn() }
      #expect(try await Self.left(parts) == 0)
      #expect(await door.texts.count == 2)
    }
  }

  @Test("a job of which it cannot be read whether it is cancelled here is not added in its shard")
  func unreadable() async throws {
    try await Self.with { _, parts, forwarder, door in
      try await parts.takeIn(id: "sale", users: ["u"], app: "other")
      let entry = try #require(forwarder.queue.inHand.first)
      _ = try await parts.redis(
        "HSET", "{pp}:job:other:sale", "state", "cancelled", "source", entry.source)
      _ = try await parts.redis("ACL", "SETUSER", "default", "-hmget")
      _ = await forwarder.turn()
      #expect(await door.texts.isEmpty)
      #expect(forwarder.queue.has(entry) && !forwarder.queue.isOpen)
      _ = try await parts.redis("ACL", "SETUSER", "default", "+hmget")
      _ = await forwarder.turn()
      #expect(await door.texts.isEmpty)
      #expect(try await Self.left(parts) == 0)
    }
  }

  @Test("a value of another type in place of one job's record holds none up")
  func wrongRecord() async throws {
    try await Self.with { _, parts, forwarder, door in
      for id in ["a", "b"] { try await parts.takeIn(id: id, users: ["u"], app: "other") }
      _ = try await parts.redis("SET", "{pp}:job:other:a", "theirs")
      _ = await forwarder.turn()
      #expect(await door.texts.count == 2)
      #expect(try await Self.left(parts) == 0)
    }
  }

  @Test("a job that waits behind many paused ones is taken back")
  func behindPaused() async throws {
    try await Self.with { _, parts, forwarder, door in
      let count = 2 * WorkerLimits.jobsElsewhereAtOnceMax + 10
      for number in 0..<count {
        try await parts.takeIn(id: "p\(number)", users: ["u"], app: "other")
        let entry = try #require(forwarder.queue.inHand.last)
        _ = try await parts.redis(
          "HSET", "{pp}:job:other:p\(number)", "state", "paused", "source", entry.source)
      }
      for _ in 0..<3 { _ = await forwarder.turn() }
      await door.fail(by: .unavailable(reason: "away"))
      forwarder.nowNs = { [loop = parts.loop] in
        loop.nowNs + WorkerLimits.heldElsewhereMs * 1_000_000
      }
      try await parts.takeIn(id: "last", users: ["u"], app: "other")
      _ = await forwarder.turn()
      #expect(try await Self.waiting(parts) == count + 1)
      await door.fail(by: nil)
      for _ in 0..<10 where try await Self.waiting(parts) > count { _ = await forwarder.turn() }
      _ = await forwarder.turn()
      #expect(try await Self.waiting(parts) == count)
      #expect(try await Self.left(parts) == count)
    }
  }

  @Test("of more jobs than a lane holds none is lost")
  func overflows() async throws {
    try await Self.with { _, parts, forwarder, door in
      let count = 3 * WorkerLimits.jobsElsewhereMax
      await door.fail(by: .unavailable(reason: "away"))
      for first in stride(from: 0, to: count, by: 500) {
        let jobs = (first..<first + 500).map { number in
          let text =
            #"{"id":"j\#(number)","app":"other","audience":{"users":["u"]},"notification":{"title":"t"}}"#
          return (text: Array(text.utf8), priority: Priority.normal)
        }
        #expect(await parts.store.jobs.enqueue(jobs).allSatisfy { $0 == nil })
      }
      while try await parts.admitter.admitNext(abandonedForMs: nil).amount != .nothing {}
      #expect(forwarder.queue.inHand.count == WorkerLimits.jobsElsewhereMax)
      #expect(try await Self.waiting(parts) == count - WorkerLimits.jobsElsewhereMax)
      await door.fail(by: nil)
      for _ in 0..<count where try await Self.left(parts) > 0 { _ = await forwarder.turn() }
      #expect(try await Self.left(parts) == 0)
      #expect(await Set(door.texts).count == count)
      #expect(try await parts.store.deadLetters.count() == 0)
    }
  }

  @Test("intake waits for no room in another shard, also while that takes jobs")
  func noWait() async throws {
    try await Self.with { _, parts, forwarder, _ in
      try await parts.takeIn(id: "first", users: ["u"], app: "other")
      _ = await forwarder.turn()
      #expect(forwarder.queue.isOpen)
      let count = WorkerLimits.jobsElsewhereMax
      let jobs = (0...count).map { number in
        let text =
          #"{"id":"j\#(number)","app":"other","audience":{"users":["u"]},"notification":{"title":"t"}}"#
        return (text: Array(text.utf8), priority: Priority.normal)
      }
      for first in stride(from: 0, to: jobs.count, by: 500) {
        let some = Array(jobs[first..<min(first + 500, jobs.count)])
        #expect(await parts.store.jobs.enqueue(some).allSatisfy { $0 == nil })
      }
      while try await parts.admitter.admitNext(abandonedForMs: nil).amount != .nothing {}
      // Whoever waits for room gives the shard up after a while.
      #expect(forwarder.queue.isOpen)
      #expect(forwarder.queue.inHand.count == count)
      #expect(try await Self.waiting(parts) == 1)
      for _ in 0..<count where try await Self.left(parts) > 0 { _ = await forwarder.turn() }
      #expect(try await Self.left(parts) == 0)
    }
  }

  @Test("what is leased to another worker is left to that, and what comes again is not held twice")
  func leases() async throws {
    try await Self.with { _, parts, forwarder, door in
      await door.fail(by: .unavailable(reason: "away"))
      try await parts.takeIn(id: "sale", users: ["u"], app: "other")
      let entry = try #require(forwarder.queue.inHand.first)
      try await parts.admitter.admit([entry])
      #expect(forwarder.queue.inHand.count == 1)
      _ = try await parts.redis(
        "XCLAIM", "{pp}:jobs:normal", "workers", "another", "0", entry.entry)
      let leases = try #require(parts.passingOn?.leases)
      _ = await leases.turn()
      #expect(forwarder.queue.inHand.isEmpty)
      #expect(try await Self.left(parts) == 1)
    }
  }

  @Test("a job that has no room for the id that it needs is refused, and says why")
  func tooLarge() async throws {
    try await Self.with { _, parts, _, _ in
      let start =
        #"{"app":"other","audience":{"users":["u"]},"notification":{"title":"t"},"data":{"x":""#
      let padding = Limits.jobBytesMax - start.utf8.count - 3
      let text =
        Array(start.utf8) + Array(repeating: UInt8(ascii: "x"), count: padding)
        + Array(#""}}"#.utf8)
      #expect(text.count == Limits.jobBytesMax)
      let entry = JobEntry(priority: .normal, entry: "5-1", text: text)
      let job = JobElsewhere(
        entry: entry, app: "other", id: entry.source, hasOwnID: false, shard: try ShardID("eu"),
        expiresAtMs: nil)
      guard case .refused(_, let refusal) = parts.admitter.turnAway(job) else {
        Issue.record("it is passed on")
        return
      }
      #expect(refusal.field == "/id" && refusal.message.contains("the shard eu"))
    }
  }
}
