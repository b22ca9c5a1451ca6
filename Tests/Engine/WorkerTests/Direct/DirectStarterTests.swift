import Logging
import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

/// Jobs to few users, which a lane sends from their entries.
@Suite struct DirectStarterTests {
  private static func with(
    _ body: @Sendable (isolated TestLane, LaneStage) async throws -> Void
  ) async throws {
    try await LaneStage.with(sendsDirectly: true, body)
  }

  /// The only run, of a job whose push is in flight.
  private static func sent(
    _ parts: LaneStage, _ requests: TestRequests
  ) async throws -> (run: PushRun, destination: Destination) {
    try await parts.install("a", "token-a")
    try await parts.takeIn(id: "sale", users: ["a"])
    let run = try #require(parts.runs.all.first)
    await parts.carryOn()
    let destination = parts.sending.destinations.destination(0)
    destination.use(TestDirectory.credential)
    destination.offer(10, requests)
    return (run, destination)
  }

  @Test("a job is sent from its entry, and its record is written when it has ended")
  func sends() async throws {
    try await Self.with { _, parts in
      let requests = TestRequests()
      let (run, destination) = try await Self.sent(parts, requests)
      #expect(parts.runs.direct(at: run.slot) != nil && requests.paths == ["/3/device/token-a"])
      #expect(try await parts.redis("XLEN", "{pp}:chunks:normal").integer == 0)
      #expect(try await parts.record("sale").state == .queued)
      destination.answer(try requests.tag(0), 200)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("sale")
      #expect(record.state == .done && record.counts.accepted == 1 && record.isBalanced)
      #expect(try await parts.redis("XLEN", "{pp}:jobs:normal").integer == 0)
    }
  }

  @Test("a push that is to be tried again makes a chunk of its job")
  func retries() async throws {
    try await Self.with { _, parts in
      let requests = TestRequests()
      let (_, destination) = try await Self.sent(parts, requests)
      destination.answer(try requests.tag(0), 503)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("sale")
      #expect(record.state == .running && record.pending == 1 && record.counts.retries == 1)
      #expect(try await parts.store.backlog.status().delayed == 1)
    }
  }

  @Test("a job that is not answered for long becomes a chunk that this lane has")
  func lasts() async throws {
    try await Self.with { _, parts in
      let requests = TestRequests()
      let (run, destination) = try await Self.sent(parts, requests)
      let direct = try #require(parts.runs.direct(at: run.slot))
      #expect(parts.handedOn.isEmpty)
      try #require(await parts.handedOnSignal.wait(upToMs: 10_000))
      await parts.carryOn()
      #expect(parts.runs.direct(at: run.slot) == nil)
      #expect(direct.ageMs >= WorkerLimits.directMsMax)
      let chunk = try #require(parts.runs.chunk(at: run.slot))
      #expect(try await parts.record("sale").state == .running)
      #expect(try await parts.store.chunks.claim(consumer: "other", max: 1).isEmpty)
      destination.answer(try requests.tag(0), 200)
      #expect(await !parts.carrier.step(chunk))
      let record = try await parts.record("sale")
      #expect(record.state == .done && record.counts.accepted == 1 && record.isBalanced)
    }
  }

  @Test("what a lane is to leave becomes a chunk and is handed back")
  func handsBack() async throws {
    try await Self.with { _, parts in
      try await parts.install("a", "token-a")
      try await parts.takeIn(id: "sale", users: ["a"])
      await parts.carryOn()
      parts.sending.gate.pauseAll()
      await parts.carryOn()
      let claim = try #require(try await parts.store.chunks.claim(consumer: "other", max: 1).first)
      #expect(claim.job == "sale" && claim.crashes == 0)
    }
  }

  @Test("a job that another worker has by now is counted by nobody here")
  func stale() async throws {
    try await Self.with { _, parts in
      let requests = TestRequests()
      let (run, destination) = try await Self.sent(parts, requests)
      let taken = try await parts.store.jobs.take(consumer: "other", max: 1, abandonedForMs: 0)
      let other = try #require(taken.first)
      #expect(other.deliveries == 2)
      #expect(
        try await parts.store.jobs.admit(
          other, try #require(parts.runs.direct(at: run.slot)).job.admission, consumer: "other")
          == .admitted)
      destination.answer(try requests.tag(0), 200)
      await parts.carryOn()
      #expect(run.standing == .stale && parts.runs.count == 0)
      #expect(try await parts.record("sale").counts.accepted == 0)
    }
  }

  @Test("a job that Redis refuses keeps none that came with it from being sent")
  func goesOnBehindRefused() async throws {
    try await Self.with { _, parts in
      _ = try await parts.redis("SET", "{pp}:job:shop:bad", "a string")
      for id in ["good", "bad", "fine"] {
        try await parts.enqueue(id)
      }
      #expect(try await parts.admitter.admitNext(abandonedForMs: nil).amount == .all)
      #expect(parts.runs.all.map(\.claim.job).sorted() == ["fine", "good"])
      #expect(
        parts.lines.all.contains { $0.contains("WRONGTYPE") && !$0.contains("user_function") })
      #expect(parts.runs.directEntries.count == 2)
    }
  }

  @Test("each job of a batch has the bindings of its own users, who are read together")
  func readsTogether() async throws {
    try await Self.with { _, parts in
      // One MGET is full in between.
      let jobs = (0..<WorkerLimits.resolveBatchMax / 2).map { number in
        (id: "job-\(number)", users: ["one-\(number)", "absent-\(number)", "two-\(number)"])
      }
      for job in jobs {
        for user in [job.users[0], job.users[2]] { try await parts.install(user, "of-\(user)") }
        try await parts.enqueue(job.id, users: job.users)
      }
      // At first few are asked for.
      for _ in 0..<jobs.count where parts.runs.count < jobs.count {
        _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      }
      #expect(parts.runs.all.count == jobs.count)
      for run in parts.runs.all {
        let bindings = try #require(run.material.firstBindings)
        // They are too old for a push a moment later, which on a busy machine has passed by now.
        let known = try #require(bindings.take(for: run.lines.indices, nowNs: bindings.readNs))
        let users = try #require(jobs.first { $0.id == run.claim.job }).users
        var tokens: [String] = []
        known.forEach { _, text in
          tokens.append(
            BindingLines(text).map { String(decoding: $0.token, as: UTF8.self) }.joined())
        }
        #expect(tokens == ["of-\(users[0])", "", "of-\(users[2])"])
      }
    }
  }

  @Test("a large job is kept when those that came with it cannot be begun")
  func keepsLarge() async throws {
    try await Self.with { _, parts in
      try await parts.enqueue("small")
      try await parts.enqueue("big", users: (0..<10_000).map { "user-\($0)" })
      let entries = try await parts.store.jobs.take(consumer: "test-0", max: 2)
      #expect(entries.count == 2)
      _ = try await parts.redis("ACL", "SETUSER", "default", "-fcall")
      await #expect(throws: RedisError.self) { try await parts.admitter.admit(entries) }
      #expect(parts.runs.count == 0)
      #expect(parts.admitter.large.waiting.map(\.entry) == [entries[1].entry])
    }
  }

  @Test("an entry that the lane sends already is not begun again")
  func onceOnly() async throws {
    try await Self.with { _, parts in
      let requests = TestRequests()
      _ = try await Self.sent(parts, requests)
      _ = try await parts.admitter.admitNext(abandonedForMs: 0)
      #expect(parts.runs.count == 1 && parts.runs.directEntries.count == 1)
      #expect(try await parts.redis("XLEN", "{pp}:chunks:normal").integer == 0)
      #expect(try await !parts.admitter.admitUnanswered())
    }
  }

  @Test("a job that a worker was lost with, or that says more of it, is admitted")
  func admitsOthers() async throws {
    try await Self.with { _, parts in
      try await parts.enqueue("lost")
      #expect(try await parts.store.jobs.take(consumer: "gone", max: 1).count == 1)
      _ = try await parts.admitter.admitNext(abandonedForMs: 0)
      #expect(try await parts.record("lost").state == .running)
      for (id, more) in [
        ("traced", #""trace":true"#), ("paced", #""pushes_per_second":5"#),
        ("badged", #""apns":{"payload":{}}"#),
      ] {
        let badge = id == "badged" ? #","badge":"+1""# : ""
        try await parts.takeIn(
          #"{"id":"\#(id)","app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"\#(badge)},\#(more)}"#
        )
        #expect(try await parts.record(id).state == .running, "\(id)")
      }
      #expect(parts.runs.count == 0)
    }
  }

  @Test("a lane that is full of such jobs takes nothing in until some have ended")
  func isFull() async throws {
    try await Self.with { _, parts in
      for number in 0..<WorkerLimits.directRunsMax {
        try await parts.takeIn(id: "job-\(number)", users: ["a"])
      }
      #expect(parts.directStarter.isFull && parts.directStarter.room.jobs == 0)
      #expect(parts.runs.freeSlots == WorkerLimits.runsMax)
      try await parts.takeIn(id: "more", users: ["a"])
      #expect(try await parts.record("more").state == .running)
    }
  }

  @Test("of an app with a low rate a lane begins few jobs from their entries, wherever Redis is")
  func takesFewOfLimitedApps() async throws {
    for isFar in [false, true] {
      let limit = RateLimit(name: "app:shop", perSecond: 200, isOfApp: true)
      try await LaneStage.with(sendsDirectly: true, limits: [limit]) { _, parts in
        if isFar { Self.moveAway(parts) }
        parts.directStarter.lookHowFar()
        parts.directStarter.onBatch = {}
        let max = Int(200 * WorkerLimits.limitedDirectMs / 1_000)
        #expect(parts.sending.congestion.directJobsMax == ["shop": max])
        // More than one call takes, of users without a device: no push waits for the rate.
        for number in 0..<60 { try await parts.enqueue("job-\(number)", users: ["nobody"]) }
        let entries = try await parts.store.jobs.take(consumer: "test-0", max: 60)
        try await parts.admitter.admit(Array(entries[..<5]))
        try await parts.admitter.admit(Array(entries[5...]))
        #expect(parts.directStarter.inHand.count == max)
        #expect(try await parts.store.backlog.status().chunks[.normal] == 60 - max)
      }
    }
  }

  /// Redis is so far away that jobs are taken in while the names of others are asked for.
  private static func moveAway(_ parts: LaneStage) {
    parts.sending.room.roundTripNs = { WorkerLimits.farNsMin }
  }

  /// Has the lane, far from Redis, begin 100 jobs to one user, so that it knows what such jobs are like, and enqueues as many as
  /// it may have.
  private static func beginFarAway(_ parts: LaneStage) async throws {
    moveAway(parts)
    parts.directStarter.onBatch = {}
    for number in 0..<100 {
      try await parts.takeIn(id: "known-\(number)", users: ["a"])
      await parts.admitter.beginHeld()
    }
    #expect(parts.runs.count == 100)
    for number in 0..<WorkerLimits.farDirectRunsMax { try await parts.enqueue("job-\(number)") }
  }

  @Test("a lane far from Redis has more such jobs at a time, begun by calls no larger")
  func holdsMoreFarAway() async throws {
    try await Self.with { _, parts in
      try await Self.beginFarAway(parts)
      var batches = 0
      parts.directStarter.onBatch = { batches += 1 }
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      #expect(parts.directStarter.inHand.count == 100 + WorkerLimits.farDirectTakenMax)
      #expect(batches == WorkerLimits.farDirectTakenMax / WorkerLimits.directBegunMax)
      #expect(parts.directStarter.nextBatch()?.count == WorkerLimits.directBegunMax)
      // By and by, since nothing leaves.
      for _ in 0..<20 { _ = try await parts.admitter.admitNext(abandonedForMs: nil) }
      #expect(parts.directStarter.inHand.count == WorkerLimits.farDirectRunsMax)
      #expect(parts.directStarter.isFull && parts.directStarter.room.jobs == 0)
    }
  }

  @Test("jobs that can be sent do not wait for those that are left to other workers")
  func beginsBeforeLeaving() async throws {
    try await Self.with { _, parts in
      Self.moveAway(parts)
      try await parts.enqueue("other", app: "news")
      try await parts.enqueue("sale")
      let words = "job left to a worker that has its app"
      var wasLeft: Bool?
      parts.directStarter.onBatch = { wasLeft = parts.lines.has(.info, words) }
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      #expect(wasLeft == false)
      #expect(parts.lines.has(.info, words))
      await parts.admitter.beginHeld()
    }
  }

  @Test("jobs that were asked for while Redis was far away find their room when it no longer is")
  func comesNearer() async throws {
    try await Self.with { _, parts in
      try await Self.beginFarAway(parts)
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      let held = parts.directStarter.inHand.count
      #expect(held == 100 + WorkerLimits.farDirectTakenMax)
      // More than a lane nearby may have at a time: those that a call under way brings are sent all the same, and then no more.
      let entries = try await parts.store.jobs.take(consumer: "test-0", max: 200)
      #expect(entries.count == 200)
      parts.sending.room.roundTripNs = { 0 }
      try await parts.admitter.admit(entries)
      #expect(parts.directStarter.inHand.count == held + 200)
      parts.directStarter.lookHowFar()
      #expect(parts.directStarter.isFull && parts.directStarter.room.jobs == 0)
    }
  }

  @Test("a job whose name is asked for beside others is in hand, and then sent")
  func begunBeside() async throws {
    try await Self.with { _, parts in
      Self.moveAway(parts)
      var batches = 0
      parts.directStarter.onBatch = { batches += 1 }
      try await parts.install("a", "token-a")
      try await parts.takeIn(id: "sale", users: ["a"])
      #expect(batches == 1 && parts.runs.count == 0)
      let inHand = parts.directStarter.inHand
      #expect(inHand.count == 1 && parts.directStarter.isSending(inHand[0]))
      // What was lost on the way is asked for without it.
      #expect(try await !parts.admitter.admitUnanswered())
      await parts.admitter.beginHeld()
      #expect(parts.runs.count == 1 && parts.directStarter.inHand.count == 1)
    }
  }

  @Test("a job whose name could not be asked for is nobody's, and is asked for again")
  func failsBeside() async throws {
    try await Self.with { _, parts in
      Self.moveAway(parts)
      parts.directStarter.onBatch = {}
      try await parts.enqueue("sale")
      // It is not to wait for more.
      parts.admitSignal.raise()
      _ = await parts.intake.turn()
      #expect(parts.directStarter.inHand.count == 1)
      await parts.loseConnection()
      await parts.admitter.beginHeld()
      #expect(parts.directStarter.inHand.isEmpty && parts.runs.count == 0)
      try await parts.untilConnected()
      // It does not wait for new jobs meanwhile: the failure has told it.
      let start = parts.loop.nowNs
      _ = await parts.intake.turn()
      #expect(parts.directStarter.inHand.count == 1)
      #expect(parts.loop.nowNs - start < WorkerLimits.idleLaneMsMax * 1_000_000)
      await parts.admitter.beginHeld()
      #expect(parts.runs.count == 1)
    }
  }
}
