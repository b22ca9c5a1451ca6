import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Store
@testable import Worker

/// How jobs that are sent from their entries come to their end without a task for each.
@Suite struct DirectCarrierTests {
  /// Jobs of one user each that the lane has begun to send, each with a push that is not answered.
  private static func begin(_ count: Int, _ parts: LaneStage) async throws -> [DirectJob] {
    var jobs: [DirectJob] = []
    for _ in 0..<count {
      _ = try await parts.store.jobs.enqueue(Array("{}".utf8), priority: .normal)
    }
    let entries = try await parts.store.jobs.take(consumer: "test-0", max: count)
    for (number, entry) in entries.enumerated() {
      var admission = Admission(
        app: "shop", id: "job-\(number)", digest: "d", content: [],
        audience: Admission.Audience(lines: .users, recipients: 1, segments: 1))
      admission.audience.texts = [Array("user-\(number)\n".utf8)]
      jobs.append(DirectJob(entry: entry, admission: admission))
    }
    let answers = try await parts.store.jobs.direct.begin(jobs, consumer: "test-0")
    #expect(answers == Array(repeating: .success(.new), count: count))
    return jobs
  }

  @Test("a chunk that a job has become is left to it while the reply that says so is missing")
  func becomesOneChunk() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let jobs = try await Self.begin(1, parts)
      let content = JobContent(notification: Notification(title: "Hi")).canonicalBytes()
      let claim = try #require(
        try await parts.store.jobs.direct.admit(
          begun: jobs[0], content: content, startedAtMs: 1, consumer: "test-0"))
      let run = try Self.attend(jobs, parts)[0]
      try await parts.starter.begin(claim)
      #expect(parts.runs.count == 1)
      run.decide(0, .accepted)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
    }
  }

  /// Has jobs become chunks by answers that are lost; the lane is to ask for what it was given.
  private static func loseAnswers(
    _ jobs: [DirectJob], _ parts: LaneStage
  ) async throws -> [ChunkClaim] {
    // Redis has answered before, and what is switched off is known.
    parts.fetchSignal.raise()
    _ = await parts.fetcher.turn()
    let content = JobContent(notification: Notification(title: "Hi")).canonicalBytes()
    var claims: [ChunkClaim] = []
    for job in jobs {
      claims.append(
        try #require(
          try await parts.store.jobs.direct.admit(
            begun: job, content: content, startedAtMs: 1, consumer: "test-0")))
    }
    await parts.loseConnection()
    _ = await parts.fetcher.turn()
    try await parts.untilConnected()
    return claims
  }

  @Test(
    "a chunk that a job became, and that ends while lost answers are worked off, is not sent again")
  func endsBesideLostAnswers() async throws {
    try await LaneStage.with(sendsDirectly: true) { lane, parts in
      let jobs = try await Self.begin(2, parts)
      _ = try await Self.loseAnswers(jobs, parts)
      let run = try Self.attend([jobs[1]], parts)[0]
      let direct = try #require(parts.runs.direct(at: run.slot))
      parts.sending.gate.pauseAll()
      // Redis's answer names both chunks; the first is read, by two trips, before the second has its turn.
      let end = await parts.beginFetching(on: lane)
      guard case .chunk(let chunk) = await parts.direct.step(direct) else {
        Issue.record("it has become no chunk")
        return
      }
      run.decide(0, .accepted)
      await parts.carrier.carry(chunk)
      try #require(await end.wait(upToMs: 60_000))
      #expect(parts.runs.all.map(\.claim.job) == ["job-0"])
      let record = try await parts.record("job-1")
      #expect(record.state == .done && record.counts.accepted == 1)
    }
  }

  @Test("a chunk that a job became is not handed back as one that could not be begun")
  func staysBesideLostAnswers() async throws {
    try await LaneStage.with(sendsDirectly: true) { lane, parts in
      let jobs = try await Self.begin(2, parts)
      let claims = try await Self.loseAnswers(jobs, parts)
      let run = try Self.attend([jobs[1]], parts)[0]
      let direct = try #require(parts.runs.direct(at: run.slot))
      let end = await parts.beginFetching(on: lane)
      // Redis names both chunks, and is gone before the first has been read.
      await parts.loseConnection()
      try #require(await end.wait(upToMs: 60_000))
      try await parts.untilConnected()
      parts.sending.gate.pauseAll()
      guard case .chunk = await parts.direct.step(direct) else {
        Issue.record("it has become no chunk")
        return
      }
      _ = try await parts.store.jobs.pause(app: "shop", id: "job-1")
      parts.fetchSignal.raise()
      _ = await parts.fetcher.turn()
      #expect(Set(parts.runs.all.map(\.claim.job)) == ["job-0", "job-1"])
      #expect(
        try await parts.store.chunks.heartbeat([claims[1]], consumer: "test-0") == [.paused])
    }
  }

  /// Waits with them: in one turn of the loop with what follows, so that no load of the machine makes them last too long.
  private static func attend(_ jobs: [DirectJob], _ parts: LaneStage) throws -> [PushRun] {
    try jobs.map { job in
      let run = PushRun(
        job.claim,
        JobMaterial(
          content: JobContent(), createdAtMs: 0,
          trace: parts.tracer.trace(app: "shop", job: job.claim.job, isFull: false)),
        slot: try #require(parts.runs.freeSlot), loop: parts.loop)
      let direct = DirectRun(run, job, begunAtMs: 1_800_000_000_000)
      parts.runs.add(direct)
      _ = run.takeBatch(max: 1)
      #expect(run.resolve(0, devices: 1) == [0])
      parts.direct.attend(direct)
      return run
    }
  }

  @Test("all that end in one turn of the loop are told together, by few calls")
  func endsTogether() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let jobs = try await Self.begin(WorkerLimits.directEndsMax + 2, parts)
      let before = try await parts.calls("fcall")
      for run in try Self.attend(jobs.dropLast(), parts) { run.decide(0, .accepted) }
      #expect(parts.telling == 1)
      await parts.carryOn()
      #expect(try await parts.calls("fcall") - before == 2)
      #expect(parts.runs.count == 0)
      // Nobody is thought to be telling still.
      try Self.attend([jobs[jobs.count - 1]], parts)[0].decide(0, .accepted)
      #expect(parts.telling == 1)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      for number in [0, jobs.count - 1] {
        let record = try await parts.record("job-\(number)")
        #expect(record.state == .done && record.counts.accepted == 1)
      }
    }
  }

  @Test("what ends while Redis is asked is told by who asks, and by others when it is much")
  func endsMeanwhile() async throws {
    try await LaneStage.with(sendsDirectly: true) { lane, parts in
      let jobs = try await Self.begin(WorkerLimits.directEndsMax + 2, parts)
      try Self.attend([jobs[0]], parts)[0].decide(0, .accepted)
      let end = LoopSignal(loop: lane.loop)
      Task {
        _ = lane
        await parts.direct.endReady()
        end.raise()
      }
      await Task.yield()
      let runs = try Self.attend(Array(jobs.dropFirst()), parts)
      runs[0].decide(0, .accepted)
      #expect(parts.telling == 1)
      for run in runs.dropFirst() { run.decide(0, .accepted) }
      #expect(parts.telling == 2)
      try #require(await end.wait(upToMs: 60_000))
      #expect(parts.runs.count == 0)
    }
  }

  @Test("an end that Redis cannot be told of is told when it is back")
  func endsLater() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let jobs = try await Self.begin(1, parts)
      await parts.loseConnection()
      try Self.attend(jobs, parts)[0].decide(0, .accepted)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("job-0")
      #expect(record.state == .done && record.counts.accepted == 1)
    }
  }

  @Test("an end that Redis refuses keeps none of the others")
  func endsBesideRefused() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let jobs = try await Self.begin(2, parts)
      // Another has taken its place since.
      _ = try await parts.redis("SET", "{pp}:job:shop:job-0", "no record")
      for run in try Self.attend(jobs, parts) { run.decide(0, .accepted) }
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("job-1")
      #expect(record.state == .done && record.counts.accepted == 1)
    }
  }

  @Test("a job that was cancelled ends as such, and one with a dead token as a chunk")
  func endsOtherwise() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let jobs = try await Self.begin(2, parts)
      _ = try await parts.store.jobs.cancel(app: "shop", id: "job-0")
      let runs = try Self.attend(jobs, parts)
      runs[0].decide(0, .accepted)
      runs[1].decideInvalid(0, reason: "Unregistered", sinceMs: 9)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let cancelled = try await parts.record("job-0")
      #expect(cancelled.state == .cancelled && cancelled.counts.accepted == 1)
      let other = try await parts.record("job-1")
      #expect(other.state == .done && other.isBalanced && other.counts.rejected == 1)
    }
  }

  @Test("what was recorded of a job is there when the job has ended")
  func bringsTrace() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let run = try Self.attend(try await Self.begin(1, parts), parts)[0]
      // The accept of a push that was sent again is recorded.
      _ = run.noteResend(0)
      run.decide(0, .accepted)
      await parts.carryOn()
      #expect(try await parts.record("job-0").state == .done)
      #expect(try await parts.store.traces.page(app: "shop", job: "job-0").count == 1)
    }
  }

  @Test("an accept that heals its installation is told as a chunk's: counts do not say it")
  func heals() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let run = try Self.attend(try await Self.begin(1, parts), parts)[0]
      run.noteAnswer(0)
      run.noteMisfit(0)
      run.redirect(0, to: PushTarget(to: 1))
      run.decide(0, .accepted)
      await parts.carryOn()
      #expect(parts.runs.count == 0)
      let record = try await parts.record("job-0")
      #expect(record.state == .done && record.counts.accepted == 1)
    }
  }

  @Test("what has not ended does not wait for those that have")
  func handsOn() async throws {
    try await LaneStage.with(sendsDirectly: true) { _, parts in
      let runs = try Self.attend(try await Self.begin(2, parts), parts)
      runs[0].decide(0, .accepted)
      parts.sending.gate.pauseAll()
      #expect(parts.telling == 1 && parts.handedOn == [runs[1].slot])
      await parts.carryOn()
      #expect(try await parts.record("job-0").state == .done)
      // It is a chunk by now, whose push is still to come back.
      #expect(parts.runs.direct(at: runs[1].slot) == nil)
      #expect(try await parts.record("job-1").pending == 1)
    }
  }
}
