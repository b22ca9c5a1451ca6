import Redis
import Store
import Reactor
import Model
import Testing

@testable import Worker

@Suite struct ChunkCarrierTests {
  @Test("a chunk is resolved, its pushes wait for their answers, and its end is told")
  func carries() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-a")
      try await parts.takeIn(id: "sale", users: ["a", "b"])
      let chunk = try await parts.beginNext()
      let run = chunk.run
      #expect(await parts.carrier.step(chunk))
      #expect(run.openPushes == 1 && run.isResolved)
      let destination = parts.sending.destinations.destination(0)
      destination.use(TestDirectory.credential)
      let requests = TestRequests()
      destination.offer(10, requests)
      #expect(requests.paths == ["/3/device/token-a"])
      destination.answer(try requests.tag(0), 200)
      #expect(await !parts.carrier.step(chunk))
      let record = try await parts.record("sale")
      #expect(record.state == .done && record.counts.accepted == 1)
      #expect(record.counts.noInstallations == 1)
    }
  }

  @Test("what is done is told while the rest waits, and before a paused chunk is handed back")
  func tellsBetween() async throws {
    try await LaneStage.with { _, parts in
      let users = ["a", "b", "c"]
      for user in users { try await parts.install(user, "token-\(user)") }
      try await parts.takeIn(id: "sale", users: users)
      let chunk = try await parts.beginNext()
      let run = chunk.run
      #expect(await parts.carrier.step(chunk))
      let destination = parts.sending.destinations.destination(0)
      destination.use(TestDirectory.credential)
      let requests = TestRequests()
      destination.offer(2, requests)
      destination.answer(try requests.tag(0), 200)
      #expect(await parts.carrier.step(chunk))
      let record = try await parts.record("sale")
      #expect(record.counts.accepted == 1 && record.pending == 2)
      run.change(to: .paused)
      parts.sending.gate.withdrawUnsendable()
      destination.answer(try requests.tag(1), 200)
      #expect(await !parts.carrier.step(chunk))
      #expect(try await parts.record("sale").counts.accepted == 2)
      #expect(try await parts.record("sale").pending == 1)
    }
  }

  @Test("what was recorded of a job's pushes is there when the job has ended")
  func bringsTrace() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      await parts.carrier.carry(chunk)
      #expect(try await parts.record("sale").state == .done)
      let entries = try await parts.store.traces.page(app: "shop", job: "sale")
      #expect(entries.count == 1)
    }
  }

  @Test("a chunk that ends leaves its place to others")
  func endsRun() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      await parts.carrier.carry(chunk)
      #expect(parts.runs.count == 0)
      #expect(await parts.fetchSignal.wait(upToMs: 1))
    }
  }

  @Test(
    "a job goes on beside a chunk that has only waited for answers for a while, and hears so once")
  func letsJobGoOn() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-a")
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      #expect(await parts.carrier.step(chunk))
      #expect(!chunk.onlyWaits, "its push was not sent yet")
      parts.sending.destinations.destination(0).use(TestDirectory.credential)
      parts.sending.destinations.destination(0).offer(1, TestRequests())
      #expect(chunk.onlyWaits)
      #expect(!parts.runs.isToBePassed(chunk), "it has a place of its own")
      _ = parts.runs.letLinger(chunk)
      #expect(!parts.runs.isToBePassed(chunk), "it has just begun to wait")
      await parts.loop.sleep(ms: WorkerLimits.checkpointMs + 1)
      let calls = try await parts.calls("fcall")
      for _ in 0..<3 { #expect(await parts.carrier.step(chunk)) }
      #expect(try await parts.calls("fcall") == calls + 1)
    }
  }

  @Test("a chunk whose last pushes wait for a network that nothing connects to keeps no place")
  func leavesPlaceOutOfTouch() async throws {
    try await LaneStage.with { _, parts in
      let users = (0..<WorkerLimits.outOfTouchQueueMax + 6).map { "u\($0)" }
      for user in users { try await parts.install(user, "token-\(user)") }
      try await parts.takeIn(id: "sale", users: users)
      let chunk = try await parts.beginNext()
      let run = chunk.run
      #expect(await parts.carrier.step(chunk))
      #expect(run.openPushes == users.count)
      #expect(!parts.sending.room.waitsInSilence(chunk), "a connection may come at once")
      let destination = parts.sending.destinations.destination(0)
      await destination.loseTouch(on: parts.loop)
      #expect(destination.queued == WorkerLimits.outOfTouchQueueMax, "the others are put aside")
      #expect(run.openPushes == destination.queued && run.standing == .active)
      #expect(parts.sending.room.waitsInSilence(chunk))
      _ = parts.runs.letLinger(chunk, orIf: parts.sending.room.waitsInSilence(chunk))
      #expect(parts.runs.freeSlots == WorkerLimits.runsMax)
      await parts.loop.sleep(ms: WorkerLimits.postponedMsMax)
      #expect(await parts.carrier.step(chunk))
      let record = try await parts.record("sale")
      #expect(record.pending == users.count && record.counts.retries == 0)
      #expect(try await parts.redis("ZCARD", "{pp}:delayed").integer == 1)
    }
  }

  @Test("a paused chunk is handed back without a crash, and what was recorded goes ahead")
  func handsBack() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      let run = chunk.run
      try #require(run.material.trace).record(JobTrace.line(.sent))
      run.change(to: .paused)
      #expect(await !parts.carrier.step(chunk))
      let again = try await parts.store.chunks.claim(consumer: "other", max: 1)
      #expect(again.map(\.crashes) == [0])
      #expect(try await parts.store.traces.page(app: "shop", job: "sale").count == 1)
    }
  }

  @Test("a chunk that is not this worker's any more is settled by nobody here")
  func leavesStale() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let chunk = try await parts.beginNext()
      let run = chunk.run
      _ = try await parts.store.chunks.reclaim(consumer: "other", leaseMs: 0, max: 1)
      #expect(await !parts.carrier.step(chunk))
      #expect(run.standing == .stale)
      #expect(try await parts.record("sale").pending == 1)
    }
  }
}
