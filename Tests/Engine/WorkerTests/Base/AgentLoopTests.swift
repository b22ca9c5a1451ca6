import Reactor
import TestSupport
import Testing

@testable import Worker

@Suite struct AgentLoopTests {
  private final class Counter: Agent {
    let waitMs: UInt64
    var turns = 0
    var finishes = 0
    var onTurn: () -> Void = {}

    init(waitMs: UInt64) { self.waitMs = waitMs }

    func turn() async -> UInt64 {
      turns += 1
      onTurn()
      return waitMs
    }

    func finish() async { finishes += 1 }
  }

  @Test("an agent takes turns while it is needed, then does what is left")
  func takesTurns() async throws {
    try await TestLane.run { lane in
      let agent = Counter(waitMs: 0)
      await AgentLoop(agent, on: lane.loop) { agent.turns < 3 }
        .run()
      #expect(agent.turns == 3 && agent.finishes == 1)
    }
  }

  @Test("it waits between two turns, and before the first one if it is to", .timeLimit(.minutes(1)))
  func waits() async throws {
    try await TestLane.run { lane in
      let agent = Counter(waitMs: 20)
      let startedNs = lane.loop.nowNs
      await AgentLoop(agent, on: lane.loop, firstAfterMs: 30) {
        agent.turns < 2
      }.run()
      #expect(lane.loop.nowNs - startedNs >= 70_000_000)
    }
  }

  @Test("a wait ends when it is woken", .timeLimit(.minutes(1)))
  func isWoken() async throws {
    try await TestLane.run { lane in
      let agent = Counter(waitMs: 3_600_000)
      let loop = AgentLoop(agent, on: lane.loop) {
        agent.turns < 2
      }
      agent.onTurn = { loop.wake() }
      await loop.run()
      #expect(agent.turns == 2)
    }
  }
}
