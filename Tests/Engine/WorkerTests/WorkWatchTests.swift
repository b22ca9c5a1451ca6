import Model
import Redis
import Store
import Synchronization
import TestSupport
import Testing

@testable import Worker

@Suite struct WorkWatchTests {
  private final class Wakes: Sendable {
    private let count = Mutex(0)
    var all: Int { count.withLock { $0 } }
    func note() -> @Sendable () -> Void { { self.count.withLock { $0 += 1 } } }
  }

  @Test("an entry wakes a lane that is idle, and what came while none was is looked for first")
  func wakes() async throws {
    try await TestLane.withRedis { lane, server in
      let idle = IdleLanes()
      let wakes = Wakes()
      let store = Store(
        connection: try await lane.connect(server.endpoint, library: StoreLibrary.library),
        prefix: "{pp}")
      let watch = WorkWatch(
        loop: lane.loop,
        connection: try RedisConnection(
          loop: lane.loop, endpoint: server.endpoint, library: StoreLibrary.library),
        prefix: "{pp}", idle: idle, reasons: ReasonLog(log: LogLines().logger))
      watch.start()
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      #expect(await watch.turn() == 0)
      #expect(!idle.enlist(0, for: .jobs, wake: wakes.note()), "there may be work")
      #expect(idle.enlist(0, for: .jobs, wake: wakes.note()))
      _ = try await store.jobs.take(consumer: "w", max: 1)
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      #expect(await watch.turn() == 0)
      #expect(wakes.all == 1)
      watch.stop()
      #expect(await watch.turn() == WorkerLimits.redisPauseMs)
      store.connection.close()
    }
  }
}
