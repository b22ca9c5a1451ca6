import Logging
import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

@Suite struct FetcherTests {
  /// Has a chunk of the job "known" carried, and one of "lost" claimed by an answer that nobody hears.
  private static func loseAnswer(_ parts: LaneStage) async throws {
    try await parts.takeIn(id: "known", users: ["a"])
    _ = await parts.fetcher.turn()
    try await parts.takeIn(id: "lost", users: ["a"])
    // Redis answers, and nobody is told.
    #expect(
      try await parts.store.chunks.claim(consumer: parts.settings.consumer, max: 4).count == 1)
    await parts.loseConnection()
    _ = await parts.fetcher.turn()
    try await parts.untilConnected()
  }

  @Test("a chunk is claimed and carried, while there is room")
  func claims() async throws {
    try await LaneStage.with { _, parts in
      var begun: [Int] = []
      parts.starter.onBegun = { begun.append($0) }
      try await parts.takeIn(id: "sale", users: ["a"])
      #expect(await parts.fetcher.turn() == 0)
      #expect(begun == [0] && parts.runs[0]?.claim.job == "sale")
    }
  }

  @Test(
    "chunks of silent workers come first, and a chunk that is carried already is not carried twice")
  func takesOver() async throws {
    try await LaneStage.with(leaseMs: 0) { _, parts in
      try await parts.takeIn(id: "left", users: ["a"])
      #expect(try await parts.store.chunks.claim(consumer: "silent", max: 1).count == 1)
      try await parts.takeIn(id: "new", users: ["a"])
      _ = await parts.recoverer.turn()
      _ = await parts.fetcher.turn()
      #expect(parts.runs.all.map(\.claim.job) == ["left"])
      #expect(parts.lines.has(.notice, "took over a chunk"))
      let run = parts.runs.all[0]
      // After a silence of its own, its own chunk comes back to it.
      for _ in 0..<2 {
        _ = await parts.recoverer.turn()
        _ = await parts.fetcher.turn()
      }
      #expect(parts.runs.all.filter { $0.claim.job == "left" }.count == 1)
      #expect(run.standing == .active)
    }
  }

  @Test(
    "a chunk that comes back to its lane, and ends while another is begun, is not carried again")
  func takesOverNothingEnded() async throws {
    try await LaneStage.with(leaseMs: 0) { lane, parts in
      // Another lane has taken it in: this one has to read its job, by two trips.
      let other = LaneStage(
        parts.loop, parts.store, try TestDirectory.of(.production), consumer: "silent")
      try await other.takeIn(id: "left", users: ["a"])
      #expect(try await parts.store.chunks.claim(consumer: "silent", max: 1).count == 1)
      try await parts.takeIn(id: "own", users: ["a"])
      let chunk = try await parts.beginNext()
      _ = chunk.run.takeBatch(max: 1)
      #expect(chunk.run.resolve(0, devices: 1) == [0])
      chunk.run.decide(0, .accepted)
      try await parts.switches.readIfOld()
      _ = await parts.recoverer.turn()
      // Redis answers with both.
      let end = await parts.beginFetching(on: lane)
      await parts.carrier.carry(chunk)
      try #require(await end.wait(upToMs: 60_000))
      #expect(parts.runs.all.map(\.claim.job) == ["left"])
    }
  }

  private static func takeIn(
    _ id: String, _ priority: Priority, _ parts: LaneStage
  ) async throws {
    let job =
      #"{"id":"\#(id)","app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"}}"#
    _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: priority)
    _ = try await parts.admitter.admitNext(abandonedForMs: nil)
  }

  @Test("a lane that is full of a low priority claims what is of a higher one")
  func claimsHigher() async throws {
    try await LaneStage.with { _, parts in
      try await Self.takeIn("first", .low, parts)
      parts.sending.room.noteResolving(
        try await parts.beginNext().run, WorkerLimits.queuedPushesMax)
      try await Self.takeIn("later", .low, parts)
      try await Self.takeIn("urgent", .high, parts)
      _ = await parts.fetcher.turn()
      #expect(Set(parts.runs.all.map(\.claim.job)) == ["first", "urgent"])
    }
  }

  @Test("chunks are claimed behind what waits of jobs sent from their entries, before there is one")
  func claimsBehindDirect() async throws {
    try await LaneStage.with { _, parts in
      try await parts.takeIn(id: "sale", users: ["a"])
      let other = try Claims.run(["b"], slot: 1, job: "other")
      parts.send(WorkerLimits.directPushesMax)
      parts.sending.room.noteResolving(other, WorkerLimits.queuedPushesMax)
      #expect(!parts.sending.room.hasRoom(for: .low))
      _ = await parts.fetcher.turn()
      #expect(parts.runs.all.map(\.claim.job) == ["sale"])
      #expect(parts.sending.room.directBacklogMax == WorkerLimits.queuedPushesMax)
    }
  }

  @Test("a lane that is full of a low priority takes over nothing, which may be of any")
  func takesOverNothing() async throws {
    try await LaneStage.with(leaseMs: 0) { _, parts in
      try await Self.takeIn("first", .low, parts)
      parts.sending.room.noteResolving(
        try await parts.beginNext().run, WorkerLimits.queuedPushesMax)
      try await Self.takeIn("left", .low, parts)
      #expect(try await parts.store.chunks.claim(consumer: "silent", max: 1).count == 1)
      try await Self.takeIn("urgent", .high, parts)
      _ = await parts.recoverer.turn()
      _ = await parts.fetcher.turn()
      #expect(Set(parts.runs.all.map(\.claim.job)) == ["first", "urgent"])
    }
  }

  @Test("chunks that waited for this worker's routes are taken up")
  func takesRouted() async throws {
    try await LaneStage.with { _, parts in
      let routes = parts.settings.shared.routes
      let watch = RouteWatch(
        store: parts.store.routes, routes: routes, snapshot: parts.context.snapshot,
        log: parts.lines.logger, onWork: {})
      try await parts.takeIn(id: "sale", users: ["a"])
      let claim = try #require(try await parts.store.chunks.claim(consumer: "w", max: 1).first)
      try await parts.store.routes.passOn(claim, consumer: "w", waitMs: 60_000)
      _ = await watch.turn()
      #expect(routes.hasWork)
      _ = await parts.fetcher.turn()
      #expect(parts.runs.all.map(\.claim.job) == ["sale"])
    }
  }

  @Test(
    "a chunk whose claim was answered to a connection that was lost is taken up without waiting for its lease"
  )
  func takesUpUnanswered() async throws {
    try await LaneStage.with { _, parts in
      try await Self.loseAnswer(parts)
      _ = await parts.fetcher.turn()
      let claims = parts.runs.all.map(\.claim)
      #expect(claims.map(\.job) == ["known", "lost"])
      #expect(claims.allSatisfy { $0.crashes == 0 })
    }
  }

  @Test("what a lane was given without knowing is handed back when it ends")
  func handsBackUnanswered() async throws {
    try await LaneStage.with { _, parts in
      try await Self.loseAnswer(parts)
      try await parts.fetcher.handBack(isAsking: true)
      #expect(try await parts.store.chunks.claim(consumer: "other", max: 1).map(\.job) == ["lost"])
    }
  }

  @Test("a Redis that is away is asked again after a pause")
  func pauses() async throws {
    try await LaneStage.with { _, parts in
      parts.store.connection.close()
      #expect(await parts.fetcher.turn() == WorkerLimits.redisPauseMs)
    }
  }
}
