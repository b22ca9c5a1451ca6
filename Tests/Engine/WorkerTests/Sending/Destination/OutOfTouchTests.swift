import Model
import TestSupport
import Testing

@testable import Worker

/// Destinations that nothing connects to.
@Suite struct OutOfTouchTests {
  @Test("a backlog of chunks comes back one after the other, and each within half a minute")
  func spreadsReturns() async throws {
    try await TestLane.run { lane in
      let sending = SendingParts(
        lane.loop, RunTable(), try TestDirectory.of(.production), LogLines().logger)
      defer { sending.close() }
      let destination = sending.destinations.destination(0)
      for _ in 0..<WorkerLimits.outOfTouchQueueMax { destination.enqueue(0, rank: 1) }
      await destination.loseTouch(on: lane.loop)
      let leastMs = try #require(destination.parkDelayMs(rank: 1))
      let delaysMs = (0..<5_000).map { _ in destination.returnMs(atLeast: leastMs) }
      #expect(delaysMs.count == 5_000 && delaysMs[0] == WorkerLimits.outOfTouchDelayMs)
      #expect(delaysMs[1_000] >= 10_000 && delaysMs[1_000] <= 12_000)
      #expect(delaysMs[4_999] == WorkerLimits.returnMsMax)
      #expect(destination.parkDelayMs(rank: 1) == WorkerLimits.outOfTouchDelayMs)
    }
  }

  @Test(
    "where much waits for such networks one push of each waits beside it, and a higher priority passes"
  )
  func boundsAll() async throws {
    try await TestLane.run { lane in
      let sending = SendingParts(
        lane.loop, RunTable(), try TestDirectory.of(.production, .development), LogLines().logger)
      defer { sending.close() }
      let (first, second) = (
        sending.destinations.destination(0), sending.destinations.destination(1)
      )
      for destination in [first, second] { destination.enqueue(0, rank: 1) }
      for destination in [first, second] { await destination.loseTouch(on: lane.loop) }
      #expect(first.parkDelayMs(rank: 1) == nil && second.parkDelayMs(rank: 1) == nil)

      for _ in 0..<WorkerLimits.silentQueuesMax { first.enqueue(0, rank: 1) }
      #expect(second.parkDelayMs(rank: 1) == WorkerLimits.outOfTouchDelayMs)
      #expect(second.parkDelayMs(rank: 0) == nil && first.parkDelayMs(rank: 0) == nil)
      second.filterQueue { _ in false }
      #expect(second.parkDelayMs(rank: 1) == nil, "none of its own would try to connect")

      first.checkReachable()
      #expect(first.queued == WorkerLimits.outOfTouchQueueMax)
      #expect(first.parkDelayMs(rank: 1) == WorkerLimits.outOfTouchDelayMs)
    }
  }
}
