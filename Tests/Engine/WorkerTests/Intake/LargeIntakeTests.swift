import Logging
import Model
import Redis
import Store
import Testing

@testable import Worker

@Suite struct LargeIntakeTests {
  private static func enqueue(_ parts: LaneStage, _ id: String) async throws {
    let users = (0..<4_000).map { "\"user-\($0)\"" }.joined(separator: ",")
    try await parts.takeIn(
      #"{"id":"\#(id)","app":"shop","audience":{"users":[\#(users)]},"notification":{"title":"Hi"}}"#
    )
  }

  private static func intake(_ parts: LaneStage) -> LargeIntake {
    LargeIntake(parts.context, admitter: parts.admitter)
  }

  @Test("a large job that Redis refuses keeps none behind it waiting", .timeLimit(.minutes(1)))
  func passesRefused() async throws {
    try await LaneStage.with { lane, parts in
      // What is written there is no record.
      _ = try await parts.redis("SET", parts.store.keys.job(app: "shop", id: "refused"), "x")
      let intake = Self.intake(parts)
      let running = Task {
        _ = lane
        await intake.run()
      }
      for id in ["refused", "sale"] { try await Self.enqueue(parts, id) }
      parts.admitter.large.close()
      await running.value
      #expect(try await parts.record("sale").total == 4_000)
      #expect(parts.lines.has(.warning, "taking jobs in fails and is tried again"))
    }
  }

  @Test("a large job outlasts the loss of the connection", .timeLimit(.minutes(1)))
  func triesAgain() async throws {
    try await LaneStage.with { _, parts in
      try await Self.enqueue(parts, "sale")
      parts.admitter.large.close()
      await parts.loseConnection()
      await Self.intake(parts).run()
      #expect(try await parts.record("sale").total == 4_000)
    }
  }

  @Test("a lane that ends does not wait for a Redis that is away", .timeLimit(.minutes(1)))
  func leaves() async throws {
    try await LaneStage.with { _, parts in
      try await Self.enqueue(parts, "sale")
      parts.admitter.large.close()
      parts.store.connection.close()
      parts.life.drain()
      await Self.intake(parts).run()
      #expect(parts.admitter.large.inHand.isEmpty)
    }
  }
}
