import Store
import Synchronization
import Testing

@testable import Worker

@Suite struct IdleLanesTests {
  /// Which lanes were woken, in order.
  private final class Woken: Sendable {
    private let lanes = Mutex<[Int]>([])
    var all: [Int] { lanes.withLock { $0 } }
    func wake(_ lane: Int) -> @Sendable () -> Void { { self.lanes.withLock { $0.append(lane) } } }
  }

  @Test("work wakes one lane, the one that was idle last")
  func wakesOne() {
    let idle = IdleLanes()
    let woken = Woken()
    for lane in 0..<4 { #expect(idle.enlist(lane, for: .jobs, wake: woken.wake(lane))) }
    #expect(idle.wake(.jobs))
    #expect(idle.wake(.jobs))
    #expect(woken.all == [3, 2])
    #expect(idle.wake(.jobs, .longestIdle))
    #expect(woken.all == [3, 2, 0])
  }

  @Test("work that came while no lane was idle is looked for by the next that would be, once")
  func remembersWork() {
    let idle = IdleLanes()
    let woken = Woken()
    #expect(!idle.wake(.chunks))
    #expect(!idle.wake(.chunks))
    #expect(idle.enlist(1, for: .jobs, wake: woken.wake(1)), "of the other kind")
    #expect(!idle.enlist(1, for: .chunks, wake: woken.wake(1)))
    #expect(idle.enlist(1, for: .chunks, wake: woken.wake(1)))
    #expect(idle.enlist(2, for: .chunks, wake: woken.wake(2)))
    #expect(woken.all == [])
  }

  @Test("a lane that found something to do by itself is not woken")
  func withdraws() {
    let idle = IdleLanes()
    let woken = Woken()
    #expect(idle.enlist(1, for: .chunks, wake: woken.wake(1)))
    #expect(idle.enlist(2, for: .chunks, wake: woken.wake(2)))
    idle.withdraw(2, from: .chunks)
    #expect(idle.wake(.chunks))
    #expect(woken.all == [1])
    #expect(!idle.wake(.chunks))
  }

  @Test("one lane asks for jobs that are held back")
  func watchesHeld() {
    let idle = IdleLanes()
    #expect(idle.watchHeld())
    #expect(!idle.watchHeld())
    idle.leaveHeld()
    #expect(idle.watchHeld())
  }
}
