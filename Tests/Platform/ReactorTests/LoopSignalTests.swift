import Reactor
import Testing
import TestSupport

@Suite("A signal of a loop")
struct LoopSignalTests {
  @Test("raised before the wait is not missed, and is used up by it")
  func raisedBefore() async throws {
    try await TestLane.run { lane in
      let signal = LoopSignal(loop: lane.loop)
      signal.raise()
      signal.raise()
      #expect(await signal.wait(upToMs: 60_000))
      #expect(await !signal.wait(upToMs: 1))
    }
  }

  @Test("raised during the wait ends it long before its time")
  func raisedDuring() async throws {
    try await TestLane.run { lane in
      let signal = LoopSignal(loop: lane.loop)
      let timer = LoopTimer(loop: lane.loop) { signal.raise() }
      timer.schedule(afterMs: 2)
      #expect(await signal.wait())
      timer.schedule(afterMs: 2)
      #expect(await signal.wait(upToMs: 60_000))
      #expect(await !signal.wait(upToMs: 1))
    }
  }

  @Test("is let go of after waits that timed out or were cut short")
  func isFreed() async throws {
    try await TestLane.run { lane in
      weak var released: LoopSignal?
      do {
        let signal = LoopSignal(loop: lane.loop)
        released = signal
        await signal.wait(upToMs: 1)
        let timer = LoopTimer(loop: lane.loop) { [weak signal] in signal?.raise() }
        timer.schedule(afterMs: 1)
        await signal.wait(upToMs: 3_600_000)
      }
      #expect(released == nil)
    }
  }
}
