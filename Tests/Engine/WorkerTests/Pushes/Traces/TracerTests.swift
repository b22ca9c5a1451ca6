import Model
import Reactor
import Redis
import Store
import Testing

@testable import Worker

@Suite struct TracerTests {
  @Test(
    "what was on its way when the connection was lost is recorded once",
    .timeLimit(.minutes(1)), arguments: [true, false])
  func sendsAgain(hasArrived: Bool) async throws {
    try await LaneStage.with { _, parts in
      let tracer = Tracer(
        loop: parts.loop, store: parts.store.traces, by: "test-0",
        clock: parts.settings.shared.clock)
      let trace = tracer.trace(app: "shop", job: "sale", isFull: true)
      let connection = parts.store.connection
      // A connection whose replies are off is not closed by CLIENT KILL: it is lost by its time limit.
      connection.patienceMs = 0
      func lose() {
        connection.send(RedisCommand("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")) { _ in }
      }
      for _ in 0..<3 {
        trace.record(JobTrace.line(.sent))
        if hasArrived {
          // Redis executes it, and its answer comes behind so much that it is lost with the connection.
          connection.send(RedisCommand("CLIENT", "REPLY", "OFF")) { _ in }
          tracer.flush()
          lose()
        } else {
          lose()
          tracer.flush()
        }
        for _ in 0..<2_000 where (try? await parts.redis("PING")) == nil {
          await parts.loop.sleep(ms: 5)
        }
        tracer.flush()
      }
      await tracer.finish()
      let events = try await parts.store.traces.page(app: "shop", job: "sale").flatMap(\.events)
      #expect(events.map(\.kind) == [.sent, .sent, .sent])
    }
  }
}
