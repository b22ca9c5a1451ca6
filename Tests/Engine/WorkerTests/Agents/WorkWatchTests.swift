import LocalServices
import Model
import Reactor
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

  /// The watch of a process.
  private func watch(
    _ loop: EventLoop, _ server: RedisServer, _ idle: IdleLanes
  ) throws -> WorkWatch {
    let watch = WorkWatch(
      loop: loop,
      connection: try RedisConnection(
        loop: loop, endpoint: server.endpoint, library: StoreLibrary.library),
      prefix: "{pp}", idle: idle, reasons: ReasonLog(log: LogLines().logger))
    watch.start()
    return watch
  }

  @Test("an entry wakes a lane that is idle, and of two processes in one")
  func wakes() async throws {
    try await TestLane.withRedis { lane, server in
      let idle = [IdleLanes(), IdleLanes()]
      let wakes = Wakes()
      let store = ShardStore(
        connection: try await lane.connect(server.endpoint, library: StoreLibrary.library),
        prefix: "{pp}")
      let watches = try idle.map { try watch(lane.loop, server, $0) }
      for (idle, watch) in zip(idle, watches) {
        #expect(await watch.turn() == WorkerLimits.busyWatchMs, "no lane is idle")
        for kind in WorkKind.allCases {
          #expect(!idle.enlist(0, for: kind, wake: wakes.note()), "it is to look once itself")
          #expect(idle.enlist(0, for: kind, wake: wakes.note()))
        }
      }
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      #expect(
        await watches[0].turn() == WorkerLimits.gatherMs, "what comes soon is left to come together"
      )
      #expect(wakes.all == 1)
      _ = try await store.jobs.take(consumer: "w", max: 1)
      _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      #expect(await watches[1].turn() == WorkerLimits.gatherMs)
      #expect(wakes.all == 2)
      for watch in watches {
        watch.stop()
        #expect(await watch.turn() == WorkerLimits.redisPauseMs)
      }
      store.connection.close()
    }
  }

  @Test("idle lanes are woken to look for themselves while there is no connection")
  func wakesWithoutConnection() async throws {
    try await TestLane.withRedis { lane, server in
      let idle = IdleLanes()
      let wakes = Wakes()
      for kind in WorkKind.allCases {
        #expect(idle.enlist(0, for: kind, wake: wakes.note()))
      }
      let watch = try watch(lane.loop, server, idle)
      watch.stop()
      #expect(await watch.turn() == WorkerLimits.redisPauseMs)
      #expect(wakes.all == WorkKind.allCases.count)
    }
  }
}
