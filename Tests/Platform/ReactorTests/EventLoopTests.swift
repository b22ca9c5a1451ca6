import Reactor
import Synchronization
import Testing
import TestSupport

@Suite("The event loop")
struct EventLoopTests {
  @Test("runs the tasks of an actor that lives on it, also after they waited")
  func runsActorTasks() async throws {
    let lane = try TestLane()
    let isOnLoop = await lane.run { lane in
      let before = lane.loop.isOnLoop
      await lane.loop.sleep(ms: 1)
      await Task.yield()
      return before && lane.loop.isOnLoop
    }
    #expect(isOnLoop)
    #expect(!lane.loop.isOnLoop)
  }

  @Test("runs what a task prefers to run on it")
  func runsPreferringTasks() async throws {
    let lane = try TestLane()
    let isOnLoop = await Task(executorPreference: lane.loop) { lane.loop.isOnLoop }.value
    #expect(isOnLoop)
  }

  @Test("runs every closure handed in by other threads, each thread's in order")
  func executesFromThreads() async throws {
    let lane = try TestLane()
    let seen = Seen()
    await withTaskGroup(of: Void.self) { group in
      for source in 0..<4 {
        group.addTask {
          for number in 0..<1_000 {
            lane.loop.execute { seen.note(number, of: source) }
          }
        }
      }
    }
    // What is handed in last runs last.
    await withCheckedContinuation { done in lane.loop.execute { done.resume() } }
    #expect(seen.numbers == Array(repeating: Array(0..<1_000), count: 4))
  }

  @Test("stops twice, joins, and drops what is handed in afterwards")
  func stops() async throws {
    let loop = try EventLoop(name: "test")
    try loop.start()
    loop.stop()
    loop.stop()
    loop.join()
    loop.join()
    let token = Token()
    weak let dropped: Token? = token
    loop.execute { withExtendedLifetime(token) {} }
    #expect(dropped != nil)
  }

  @Test("runs what is ready before it ends")
  func finishesReadyTasks() async throws {
    let loop = try EventLoop(name: "test")
    let ran = Atomic<Int>(0)
    for _ in 0..<100 { loop.execute { ran.add(1, ordering: .relaxed) } }
    loop.stop()
    try loop.start()
    loop.join()
    #expect(ran.load(ordering: .relaxed) == 100)
  }

  @Test("lets go of armed timers and streams when it ends, so that nothing keeps it alive")
  func freesItself() async throws {
    weak var released: EventLoop?
    do {
      let loop = try EventLoop(name: "test")
      released = loop
      try loop.start()
      loop.execute { LoopTimer(loop: loop) {}.schedule(afterMs: 3_600_000) }
      loop.execute {
        let stream = ByteStream(loop: loop, delegate: StreamRecorder(Occurrences(loop: loop)))
        stream.connect(
          to: .tcp(host: "127.0.0.1", port: 1), tls: nil, timeoutMs: 3_600_000)
      }
      loop.stop()
      loop.join()
    }
    #expect(released == nil)
  }

  @Test("knows the time before it is started")
  func knowsTime() throws {
    #expect(try EventLoop(name: "test").nowNs > 0)
  }
}

private final class Token: Sendable {}

/// What each of four sources handed in.
private final class Seen: Sendable {
  private let lists = Mutex<[[Int]]>(Array(repeating: [], count: 4))
  var numbers: [[Int]] { lists.withLock { $0 } }
  func note(_ number: Int, of source: Int) { lists.withLock { $0[source].append(number) } }
}
