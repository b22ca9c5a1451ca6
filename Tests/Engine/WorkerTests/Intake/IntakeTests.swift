import Model
import Reactor
import Redis
import Store
import Testing

@testable import Worker

@Suite struct IntakeTests {
  private static func enqueue(_ parts: LaneStage, _ id: String) async throws {
    let job =
      #"{"id":"\#(id)","app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"}}"#
    _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: .normal)
  }

  @Test("a turn takes jobs in, and has their chunks fetched", .timeLimit(.minutes(1)))
  func takesIn() async throws {
    try await LaneStage.with { _, parts in
      try await Self.enqueue(parts, "sale")
      #expect(await parts.intake.turn() == 0)
      #expect(try await parts.record("sale").total == 1)
      #expect(await parts.fetchSignal.wait(upToMs: 1))
    }
  }

  @Test("a turn without work waits until it is woken", .timeLimit(.minutes(1)))
  func waits() async throws {
    try await LaneStage.with { _, parts in
      let idle = parts.settings.idle
      var wakes = 0
      // Another idle lane, so that a wake that comes too early is for that one.
      #expect(idle.enlist(7, for: .jobs) {})
      let timer = LoopTimer(loop: parts.loop) {
        wakes += 1
        idle.wake(.jobs)
      }
      timer.schedule(afterMs: 20)
      #expect(await parts.intake.turn() == 0)
      #expect(wakes == 1)
    }
  }

  @Test("jobs that waited for this worker's routes are taken in", .timeLimit(.minutes(1)))
  func takesRouted() async throws {
    try await LaneStage.with { _, parts in
      _ = try await parts.store.routes.announce(parts.settings.routes.own, waitMs: 60_000)
      try await Self.enqueue(parts, "sale")
      let entry = try #require(try await parts.store.jobs.take(consumer: "w", max: 1).first)
      _ = try await parts.store.routes.setAside(
        entry, app: "shop", id: "sale", suggestion: nil, consumer: "w", waitMs: 60_000)
      parts.intake.noteRouted()
      _ = await parts.intake.turn()
      #expect(try await parts.record("sale").total == 1)
    }
  }

  @Test(
    "jobs that were leased by an answer that was lost are taken in without waiting for their lease",
    .timeLimit(.minutes(1)))
  func takesUnanswered() async throws {
    try await LaneStage.with { _, parts in
      try await Self.enqueue(parts, "before")
      _ = await parts.intake.turn()
      for id in ["one", "two"] { try await Self.enqueue(parts, id) }
      // Redis answers, and nobody is told.
      #expect(
        try await parts.store.jobs.take(consumer: parts.settings.consumer, max: 4).count == 2)
      await parts.loseConnection()
      #expect(await parts.intake.turn() == WorkerLimits.redisPauseMs)
      try await parts.untilConnected()
      try await Self.enqueue(parts, "new")
      _ = await parts.intake.turn()
      for id in ["one", "two", "new"] { #expect(try await parts.record(id).total == 1) }
    }
  }

  @Test(
    "a job that Redis refuses to admit keeps no other waiting after a loss",
    .timeLimit(.minutes(1)))
  func passesRefusedJobs() async throws {
    try await LaneStage.with { _, parts in
      try await Self.enqueue(parts, "before")
      _ = await parts.intake.turn()
      try await Self.enqueue(parts, "refused")
      #expect(
        try await parts.store.jobs.take(consumer: parts.settings.consumer, max: 4).count == 1)
      // What is written there is no record.
      _ = try await parts.redis("SET", parts.store.keys.job(app: "shop", id: "refused"), "x")
      await parts.loseConnection()
      _ = await parts.intake.turn()
      try await parts.untilConnected()
      #expect(await parts.intake.turn() == WorkerLimits.redisPauseMs)
      try await Self.enqueue(parts, "other")
      _ = await parts.intake.turn()
      #expect(try await parts.record("other").total == 1)
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
