import Model
import Reactor
import Redis
import Store
import Testing

@testable import Worker

@Suite struct IntakeTests {
  private static func enqueue(_ parts: LaneParts, _ id: String) async throws {
    let job =
      #"{"id":"\#(id)","app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"}}"#
    _ = try await parts.store.jobs.enqueue(Array(job.utf8), priority: .normal)
  }

  @Test("a turn takes jobs in, and has their chunks fetched", .timeLimit(.minutes(1)))
  func takesIn() async throws {
    try await LaneParts.with { _, parts in
      try await Self.enqueue(parts, "sale")
      #expect(await parts.intake.turn() == 0)
      #expect(try await parts.record("sale").total == 1)
      #expect(await parts.fetchSignal.wait(upToMs: 1))
    }
  }

  @Test("a turn without work waits until it is woken", .timeLimit(.minutes(1)))
  func waits() async throws {
    try await LaneParts.with { _, parts in
      parts.admitSignal.raise()
      #expect(await parts.intake.turn() == 0)
      // It is off the list of idle lanes again.
      #expect(!parts.settings.idle.wake(.jobs))
    }
  }

  @Test("jobs that waited for this worker's routes are taken in", .timeLimit(.minutes(1)))
  func takesRouted() async throws {
    try await LaneParts.with { _, parts in
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

  @Test("a Redis that is away is asked again after a pause; then no more large jobs are waited for")
  func ends() async throws {
    try await LaneParts.with { _, parts in
      parts.store.connection.close()
      #expect(await parts.intake.turn() == WorkerLimits.redisPauseMs)
      await parts.intake.finish()
      #expect(await parts.admitter.large.next() == nil)
    }
  }
}
