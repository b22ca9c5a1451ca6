import Reactor
import Testing

@testable import Redis

@Suite struct ReadyWaiterTests {
  @Test("a waiter and its timer let go of each other when either is done")
  func letsGo() throws {
    let loop = try EventLoop(name: "test")
    weak var waiter: ReadyWaiter?
    do {
      let made = ReadyWaiter()
      made.timer = LoopTimer(loop: loop) { made.resume(.failure(.timeout)) }
      made.timer?.schedule(afterMs: 60_000)
      waiter = made
      made.resume(.success(()))
    }
    #expect(waiter == nil)
  }
}
