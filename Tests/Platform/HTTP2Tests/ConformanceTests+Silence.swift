import HTTP2
import Reactor
import Testing
import TestSupport

extension ConformanceTests {
  @Test("serves again after a provider that answered nothing", arguments: TransportKind.allCases)
  func silence(kind: TransportKind) async throws {
    try await Self.inSilence(kind, streamsMax: 20) { lane, world in
      // A request that a slow machine does not answer in time either is sent again.
      world.sender.onFinish = { _, ending in if ending != .yes { world.sender.send(1) } }
      world.sender.send(60)
      #expect(await world.until { world.sender.count(.unknown) >= 20 })
      world.server.onRequest = ScriptedServer.answer
      #expect(await world.untilAccepted(61))
    }
  }

  @Test(
    "serves again after a provider that answered nothing, on a machine that is slow to look",
    arguments: TransportKind.allCases)
  func slowSilence(kind: TransportKind) async throws {
    try await Self.inSilence(kind, streamsMax: 2) { lane, world in
      world.sender.onFinish = { _, ending in
        guard ending == .unknown, world.sender.count(.unknown) == 1 else { return }
        world.server.onRequest = ScriptedServer.answer
        // The loop is held up, and the other one's time is up before it turns again.
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(200) {}
      }
      world.sender.send(1)
      try #require(await world.until { world.server.received == 2 })
      await lane.loop.sleep(ms: 50)
      // The third waits: nobody says again that it does.
      world.sender.send(2)
      #expect(await world.untilFinished(4))
      #expect(world.sender.count(.yes) + world.sender.count(.unknown) == 4)
      #expect(world.sender.count(.yes) >= 2)
    }
  }

  /// A world whose server has answered one request and answers no other.
  private static func inSilence(
    _ kind: TransportKind, streamsMax: Int,
    _ body: @Sendable (isolated TestLane, TestWorld) async throws -> Void
  ) async throws {
    try await TestWorld.run(
      over: kind,
      {
        $0.requestTimeoutMs = 1_000
        $0.streamsMax = streamsMax
      }
    ) { lane, world in
      await world.warmUp()
      world.server.onRequest = { _, _ in }
      try await body(lane, world)
    }
  }
}
