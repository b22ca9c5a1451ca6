import Reactor
import Testing
import TestSupport

@Suite("Timers of a loop")
struct LoopTimerTests {
  @Test("fire in the order of their deadlines, and of their arming when these are equal")
  func fireInOrder() async throws {
    let fired = try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let fired = Numbers()
      var timers: [LoopTimer] = []
      for (number, ms) in [30, 10, 20, 10, 0, 40, 10, 0].enumerated() {
        let timer = LoopTimer(loop: lane.loop) {
          fired.list.append(number)
          occurrences.note()
        }
        timers.append(timer)
        timer.schedule(afterMs: UInt64(ms))
      }
      #expect(await occurrences.until { fired.list.count == 8 })
      #expect(timers.allSatisfy { !$0.isArmed })
      return fired.list
    }
    #expect(fired == [4, 7, 1, 3, 6, 2, 0, 5])
  }

  @Test("that are cancelled never fire, and moved ones fire once, at their new time")
  func cancelAndMove() async throws {
    let fired = try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let fired = Numbers()
      let timers = (0..<64).map { number in
        LoopTimer(loop: lane.loop) {
          fired.list.append(number)
          occurrences.note()
        }
      }
      for timer in timers { timer.schedule(afterMs: 5) }
      for number in 0..<64 where number % 2 == 1 { timers[number].cancel() }
      for number in 0..<64 where number % 4 == 0 {
        timers[number].schedule(afterMs: 60_000)
        timers[number].schedule(afterMs: 30)
      }
      timers[1].cancel()
      let last = LoopTimer(loop: lane.loop) {
        fired.list.append(-1)
        occurrences.note()
      }
      last.schedule(afterMs: 60)
      #expect(await occurrences.until { fired.list.last == -1 })
      return fired.list
    }
    let even = Array(stride(from: 2, to: 64, by: 4))
    let moved = Array(stride(from: 0, to: 64, by: 4))
    #expect(fired == even + moved + [-1])
  }

  @Test("that re-arm themselves at once do not keep the loop from its other work")
  func rearmAtOnce() async throws {
    let lane = try TestLane()
    let fired = await lane.run { lane in
      let timer = Rearming(loop: lane.loop)
      timer.start()
      // That a sleep ends at all is the other work; how often the timer fires meanwhile is the machine's.
      for _ in 0..<1_000 where timer.fired < 2 { await lane.loop.sleep(ms: 1) }
      timer.stop()
      return timer.fired
    }
    #expect(fired > 1)
  }

  @Test("are let go of when they fired or were cancelled")
  func areFreed() async throws {
    try await TestLane.run { lane in
      weak var cancelled: LoopTimer?
      weak var fired: LoopTimer?
      do {
        let timer = LoopTimer(loop: lane.loop) {}
        cancelled = timer
        timer.schedule(afterMs: 3_600_000)
        timer.cancel()
        let other = LoopTimer(loop: lane.loop) {}
        fired = other
        other.schedule(afterMs: 0)
      }
      await lane.loop.sleep(ms: 1)
      #expect(cancelled == nil)
      #expect(fired == nil)
    }
  }

  @Test("with a time beyond all clocks never fire instead of overflowing")
  func farFuture() async throws {
    let isArmed = try await TestLane.run { lane in
      let timer = LoopTimer(loop: lane.loop) {}
      timer.schedule(afterMs: .max)
      await lane.loop.sleep(ms: 1)
      defer { timer.cancel() }
      return timer.isArmed
    }
    #expect(isArmed)
  }

  @Test("let a task sleep at least as long as it asked")
  func sleep() async throws {
    let sleptNs = try await TestLane.run { lane in
      await lane.loop.sleep(ms: 0)
      let before = lane.loop.nowNs
      await lane.loop.sleep(ms: 20)
      return lane.loop.nowNs - before
    }
    #expect(sleptNs >= 20_000_000)
  }
}

private final class Numbers {
  var list: [Int] = []
}

private final class Rearming {
  private var timer: LoopTimer!
  private(set) var fired = 0

  init(loop: EventLoop) {
    timer = LoopTimer(loop: loop) { [unowned self] in
      fired += 1
      timer.schedule(afterMs: 0)
    }
  }

  func start() { timer.schedule(afterMs: 0) }
  func stop() { timer.cancel() }
}
