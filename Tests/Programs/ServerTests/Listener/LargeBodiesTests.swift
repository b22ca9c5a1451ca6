import Synchronization
import Testing

@testable import Server

@Suite struct LargeBodiesTests {
  /// How many are inside, and were at most.
  private final class Count: Sendable {
    private let state = Mutex((inside: 0, most: 0))
    var most: Int { state.withLock { $0.most } }

    func enter() {
      state.withLock { state in
        state.inside += 1
        state.most = max(state.most, state.inside)
      }
    }

    func leave() { state.withLock { $0.inside -= 1 } }
  }

  @Test("large bodies are dealt with one at a time, and none waits while another waits for Redis")
  func serial() async {
    let bodies = LargeBodies()
    let count = Count()
    let (opened, opener) = AsyncStream<Void>.makeStream()
    await withTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: bodies) {
        // As one that waits for an answer.
        for await _ in opened {}
      }
      for _ in 0..<20 {
        group.addTask(executorPreference: bodies) {
          count.enter()
          var sum = 0
          for number in 0..<100_000 { sum &+= number }
          #expect(sum > 0)
          count.leave()
        }
      }
      for _ in 0..<20 { await group.next() }
      opener.finish()
    }
    #expect(count.most == 1)
  }
}
