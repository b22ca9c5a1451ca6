import Model
import Providers
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

/// How many jobs a lane sends from their entries at a time, by what waits to be sent and by what leaves.
@Suite struct DirectRoomTests {
  /// Takes in what is there. What is switched off has just been looked at: without that nothing is resolved as it begins.
  private static func takeIn(_ parts: LaneStage) async throws {
    try await parts.switches.read()
    _ = try await parts.admitter.admitNext(abandonedForMs: nil)
  }

  private static func left(_ parts: LaneStage, _ priority: Priority) async throws -> Int? {
    let stream = "{pp}:jobs:\(priority.rawValue)"
    let pending = try await parts.redis("XPENDING", stream, "workers").array?.first?.integer
    return try await parts.redis("XLEN", stream).integer.map { Int($0) - Int(pending ?? 0) }
  }

  /// A run of an app's job that is sent from its entry.
  private static func run(of app: String, _ parts: LaneStage) throws -> DirectRun {
    var admission = Admission(
      app: app, id: "sale", digest: "d", content: [],
      audience: Admission.Audience(lines: .users, recipients: 1, segments: 1))
    admission.audience.texts = [Array("a\n".utf8)]
    let entry = JobEntry(priority: .normal, entry: "1-0", text: [], deliveries: 1)
    let job = DirectJob(entry: entry, admission: admission)
    let run = PushRun(
      job.claim,
      JobMaterial(
        content: JobContent(), createdAtMs: 0,
        trace: parts.tracer.trace(app: app, job: "sale", isFull: false)),
      slot: try #require(parts.runs.freeSlot), loop: parts.loop)
    return DirectRun(run, job, begunAtMs: 0)
  }

  /// So many recipients of a job of this priority are being resolved; it does not want room itself.
  private static func fill(
    _ parts: LaneStage, _ count: Int, _ priority: Priority = .low
  ) async throws -> PushRun {
    try await parts.enqueue("bulk", priority)
    try await takeIn(parts)
    let run = try #require(parts.runs.all.first { $0.claim.job == "bulk" })
    #expect(run.isResolved)
    parts.sending.room.noteResolving(run, count)
    return run
  }

  @Test("the pushes of a job to as many users as may be are made as it begins")
  func resolvesAtOnce() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let users = (0..<WorkerLimits.directUsersMax).map { "user-\($0)" }
      for user in users where user.hasSuffix("7") { try await parts.install(user, "of-\(user)") }
      try await parts.enqueue("sale", users: users)
      try await Self.takeIn(parts)
      let run = try #require(parts.runs.all.first)
      #expect(parts.runs.direct(at: run.slot) != nil && run.isResolved && parts.handedOn.isEmpty)
      #expect(
        run.pushes.map { String(decoding: $0.token, as: UTF8.self) }
          == users.filter { $0.hasSuffix("7") }.map { "of-\($0)" })
    }
  }

  @Test("what was read of a job that begins without room is not read again when there is some")
  func keepsWhatIsRead() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.send(WorkerLimits.directPushesMax)
      let run = try await Self.fill(parts, WorkerLimits.directPushesMax, .high)
      let users = (0..<WorkerLimits.directUsersMax).map { "user-\($0)" }
      try await parts.install("user-99", "last")
      // On a machine that is held up what was read may be too old by then.
      for attempt in 0..<10 {
        try await parts.enqueue("sale-\(attempt)", users: users)
        try await Self.takeIn(parts)
        let waiting = try #require(parts.runs.all.first { $0.claim.job == "sale-\(attempt)" })
        #expect(parts.runs.direct(at: waiting.slot) != nil && waiting.cursor == 0)
        #expect(parts.handedOn.contains(waiting.slot))
        #expect(parts.directStarter.areAnyWaiting)
        parts.sending.room.noteResolved(run, WorkerLimits.directPushesMax)
        let before = try await parts.calls("mget")
        await parts.carryOn()
        #expect(waiting.isResolved && waiting.pushes.count == 1)
        #expect(!parts.directStarter.areAnyWaiting)
        if try await parts.calls("mget") == before { return }
        parts.sending.room.noteResolving(run, WorkerLimits.directPushesMax)
      }
      Issue.record("read again each time")
    }
  }

  @Test("a lane that sends little makes chunks of what it has no room for")
  func slow() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      _ = try await Self.fill(parts, WorkerLimits.queuedPushesMax)
      parts.send(0)
      let starter = parts.directStarter
      #expect(starter.lowestWanted == .low)
      #expect(starter.jobsWanted(downTo: .low) == WorkerLimits.admissionsMax)
      #expect(starter.jobsWanted(downTo: .normal) > WorkerLimits.admissionsMax)
      try await parts.enqueue("later", .low)
      try await parts.enqueue("urgent")
      _ = try await parts.admitter.admitNext(abandonedForMs: nil)
      #expect(try await parts.record("later").state == .running)
      #expect(parts.runs.all.map(\.claim.job) == ["bulk", "urgent"])
    }
  }

  @Test("a lane that sends much may have more waiting, unless somebody wants room besides")
  func fast() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      #expect(parts.sending.room.directBacklogMax == WorkerLimits.queuedPushesMax)
      parts.send(WorkerLimits.directPushesMax)
      #expect(parts.sending.room.directBacklogMax == WorkerLimits.directPushesMax)
      let users = (0..<WorkerLimits.directUsersMax + 1).map { "user-\($0)" }
      try await parts.takeIn(id: "campaign", users: users)
      _ = try await parts.beginNext()
      #expect(parts.sending.room.directBacklogMax == WorkerLimits.queuedPushesMax)
    }
  }

  @Test("a chunk that keeps to a pace wants room whenever it may send")
  func paced() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.send(WorkerLimits.directPushesMax)
      try await parts.takeIn(
        #"{"id":"slow","app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"},"pushes_per_second":1}"#
      )
      let chunk = try await parts.beginNext()
      #expect(parts.sending.room.directBacklogMax == WorkerLimits.queuedPushesMax)
      chunk.pace?.grant(0, retryMs: 60_000, nowNs: parts.loop.nowNs)
      #expect(parts.sending.room.directBacklogMax == WorkerLimits.directPushesMax)
    }
  }

  @Test("a lane that has no room is not among the idle ones when it has taken all that there is")
  func isNotIdle() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.send(WorkerLimits.directPushesMax)
      let run = try await Self.fill(parts, WorkerLimits.directPushesMax)
      let start = parts.loop.nowNs
      _ = await parts.intake.turn()
      #expect(parts.settings.shared.idle.kinds.isEmpty)
      #expect(parts.loop.nowNs - start < WorkerLimits.idleLaneMsMax / 2 * 1_000_000)
      parts.sending.room.noteResolved(run, WorkerLimits.directPushesMax)
    }
  }

  @Test("of those that wait the ones of high priority are woken, whatever waits of a lower one")
  func wakesHigh() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.send(WorkerLimits.directPushesMax)
      let run = try await Self.fill(parts, WorkerLimits.directPushesMax, .high)
      for (id, priority) in [("low", Priority.low), ("high", .high)] {
        try await parts.enqueue(id, priority)
        try await Self.takeIn(parts)
      }
      func isWoken(_ id: String) async throws -> Bool {
        let waiting = try #require(parts.runs.all.first { $0.claim.job == id })
        #expect(parts.runs.direct(at: waiting.slot) != nil && !waiting.isResolved)
        return await waiting.signal.wait(upToMs: 0)
      }
      parts.sending.room.noteResolved(run, WorkerLimits.directPushesMax)
      let low = try Claims.run(["b"], slot: run.slot, priority: .low, job: "other")
      parts.sending.room.noteResolving(low, WorkerLimits.directPushesMax)
      parts.directStarter.wakeWaiting()
      #expect(try await isWoken("high"))
      #expect(try await !isWoken("low"))
    }
  }

  @Test("a lane that sends much leaves what it has no room for where it is, for a moment")
  func leaves() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.send(WorkerLimits.directPushesMax)
      let run = try await Self.fill(parts, WorkerLimits.directPushesMax)
      // The first turn takes all: it looks for silent workers' jobs.
      parts.admitSignal.raise()
      _ = await parts.intake.turn()
      try await parts.enqueue("later", .low)
      try await parts.enqueue("urgent", .high)
      #expect(parts.directStarter.lowestWanted == .normal)
      _ = await parts.intake.turn()
      #expect(Set(parts.runs.all.map(\.claim.job)) == ["bulk", "urgent"])
      #expect(try await Self.left(parts, .low) == 1)
      // After a pause some are taken all the same, and wait for room here.
      parts.admitSignal.raise()
      _ = await parts.intake.turn()
      let later = try #require(parts.runs.all.first { $0.claim.job == "later" })
      #expect(
        parts.runs.direct(at: later.slot) != nil && !later.isResolved
          && parts.handedOn.contains(later.slot))
      // While these wait no more are taken, and they are woken when there is room.
      try await parts.enqueue("last", .low)
      for _ in 0..<3 {
        _ = await parts.intake.turn()
      }
      #expect(try await Self.left(parts, .low) == 1)
      #expect(await !later.signal.wait(upToMs: 0))
      parts.sending.room.noteResolved(run, WorkerLimits.directPushesMax)
      parts.directStarter.wakeWaiting()
      #expect(await later.signal.wait(upToMs: 0))
    }
  }

  @Test("a lane that is full of every priority takes nothing in, for a moment")
  func takesNothing() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.send(WorkerLimits.directPushesMax)
      let run = try await Self.fill(parts, WorkerLimits.directPushesMax, .high)
      parts.admitSignal.raise()
      _ = await parts.intake.turn()
      try await parts.enqueue("urgent", .high)
      #expect(parts.directStarter.lowestWanted == nil)
      _ = await parts.intake.turn()
      #expect(try await Self.left(parts, .high) == 1)
      parts.sending.room.noteResolved(run, WorkerLimits.directPushesMax)
      #expect(parts.directStarter.lowestWanted == .low)
    }
  }

  @Test("as many jobs are asked for as there is room for their pushes")
  func asksForFew() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let users = (0..<10).map { "user-\($0)" }
      for number in 0..<100 {
        try await parts.enqueue("job-\(number)", users: users)
      }
      var counts: [Int] = []
      for _ in 0..<10 {
        _ = try await parts.admitter.admitNext(abandonedForMs: nil)
        counts.append(parts.runs.count - counts.reduce(0, +))
      }
      #expect(counts[0] == WorkerLimits.queuedPushesMax / WorkerLimits.directUsersMax)
      #expect(counts[0] < counts[2] && counts.max() ?? 0 <= WorkerLimits.queuedPushesMax / 10)
    }
  }

  @Test("users of jobs whose names are asked for beside others take room")
  func countsHeld() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      parts.sending.room.roundTripNs = { WorkerLimits.farNsMin }
      parts.directStarter.onBatch = {}
      let users = (0..<WorkerLimits.directUsersMax).map { "user-\($0)" }
      for number in 0..<6 {
        try await parts.enqueue("job-\(number)", users: users)
      }
      let before = parts.directStarter.room
      try await Self.takeIn(parts)
      let held = parts.directStarter.inHand.count * users.count
      #expect(held == 500)
      let room = parts.directStarter.room
      #expect(room.waiting(upTo: .low) == before.waiting(upTo: .low) + held)
      #expect(room.waiting(upTo: .normal) == before.waiting(upTo: .normal) + held)
      #expect(room.waiting(upTo: .high) == before.waiting(upTo: .high))
      await parts.admitter.beginHeld()
      #expect(parts.directStarter.room.waiting(upTo: .low) == before.waiting(upTo: .low))
    }
  }

  @Test("a job's devices tell how many of its like are asked for")
  func learnsDevices() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      for device in 0..<20 { try await parts.install("many", "device-\(device)") }
      func take(_ user: String, times: Int) async throws -> Int {
        for number in 0..<times {
          try await parts.enqueue("\(user)-\(number)", users: [user])
          try await Self.takeIn(parts)
        }
        await parts.carryOn()
        return parts.directStarter.jobsWanted(downTo: .low)
      }
      #expect(try await take("nobody", times: 100) == WorkerLimits.directTakenMax)
      // There would be room for as many still, came each to one push.
      let wanted = try await take("many", times: 10)
      let room = parts.directStarter.room
      #expect(room.backlogMax - room.waiting(upTo: .low) > WorkerLimits.directTakenMax)
      #expect(wanted < WorkerLimits.directTakenMax / 2)
    }
  }

  @Test("what a lost answer gave is asked for whole, whatever room there is")
  func asksForAllUnanswered() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      for number in 0..<40 { try await parts.enqueue("job-\(number)") }
      let lost = try await parts.store.jobs.take(consumer: "test-0", max: 40)
      #expect(lost.count == 40)
      #expect(try await parts.admitter.admitUnanswered())
      #expect(parts.directStarter.inHand.count == 40)
    }
  }

  @Test("an app whose networks take little fills no room that others have made")
  func apart() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let shop = parts.sending.destinations.destination(0)
      // One that is taken in too long after what is switched off was read has no pushes yet.
      let users = (0..<100).map { "user-\($0)" }
      for user in users { try await parts.install(user, "of-\(user)") }
      for number in 0..<400 where shop.queued <= WorkerLimits.queuedPushesMax {
        try await parts.enqueue("job-\(number)", users: users)
        try await Self.takeIn(parts)
      }
      #expect(shop.queued > WorkerLimits.queuedPushesMax)
      let run = try Self.run(of: "shop", parts)
      // Much leaves the lane, and nothing of it to this app's networks.
      parts.send(
        WorkerLimits.directPushesMax,
        to: Destination(
          entry: ProviderDirectory.Entry(
            number: 1, app: "other", environments: shop.entry.environments, provider: shop.provider),
          settings: shop.settings,
          loop: parts.loop, journal: shop.journal, owner: parts.sending.dispatcher))
      let ofApp = parts.sending.room.hasRoom(for: run)
      let ofOther = parts.sending.room.hasRoom(for: try Self.run(of: "other", parts))
      let ofChunk = parts.sending.room.hasRoom(for: .normal)
      #expect(!ofApp && ofOther && !ofChunk)
      parts.send(WorkerLimits.directPushesMax)
      let hasRoom = parts.sending.room.hasRoom(for: run)
      #expect(hasRoom)
    }
  }
}
