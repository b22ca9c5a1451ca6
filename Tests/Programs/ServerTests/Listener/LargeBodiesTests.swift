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

  @Test("a large body is dealt with on the thread for these, and another where its caller is")
  func place() async throws {
    let bodies = LargeBodies()
    for (count, isThere) in [
      (ServerLimits.smallBodyBytesMax, false), (ServerLimits.smallBodyBytesMax + 1, true),
    ] {
      let found = try await bodies.deal(withBytes: count) { () async throws(Problem) in
        withUnsafeCurrentTask {
          $0?.unownedTaskExecutor == bodies.asUnownedTaskExecutor()
        }
      }
      #expect(found == isThere)
    }
    let problem = await #expect(throws: Problem.self) {
      try await bodies.deal(withBytes: .max) { () async throws(Problem) in throw .notFound("x") }
    }
    #expect(problem?.status == 404)
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
