import LocalServices
import Model
import Redis
import Testing

@testable import Store

@Suite struct WorkSignalTests {
  @Test(arguments: [true, false])
  func `work that comes before or during the wait ends it`(isBefore: Bool) async throws {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      let blocking = try await lane.connect(server)
      let store = Store(connection: connection, prefix: "pp")
      let signal = WorkSignal(connection: blocking, prefix: "pp")
      try await store.admit("old", users: [["a"]])
      _ = try await store.claimOne()
      try await signal.pass()
      if isBefore {
        try await store.admit("new", users: [["b"]])
      } else {
        let add = RedisCommand("XADD", store.keys.jobs(.low), "*", "job", "{}")
        // Sent in the turn in which the wait begins, over another connection.
        connection.send(add) { _ in }
      }
      let expected = isBefore ? WorkNews(hasChunks: true) : WorkNews(hasJobs: true)
      #expect(try await signal.wait(maxMs: 60_000) == expected)
      connection.close()
      blocking.close()
    }
  }

  @Test func `each entry ends one wait, and none that somebody was given before`() async throws {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      let blocking = try await lane.connect(server)
      let store = Store(connection: connection, prefix: "pp")
      let signal = WorkSignal(connection: blocking, prefix: "pp")
      for _ in 0..<4 { _ = try await store.jobs.enqueue([0x7b, 0x7d], priority: .high) }
      for _ in 0..<2 {
        #expect(try await signal.wait(maxMs: 60_000) == WorkNews(hasJobs: true))
      }
      #expect(try await store.jobs.take(consumer: "w", max: 3).count == 3)
      try await signal.pass()
      #expect(try await signal.wait(maxMs: 60_000) == WorkNews(hasJobs: true))
      #expect(try await signal.wait(maxMs: 20) == WorkNews())
      connection.close()
      blocking.close()
    }
  }

  @Test func `without work the wait ends in time`() async throws {
    try await Lane.withServer { lane, server in
      let blocking = try await lane.connect(server)
      let signal = WorkSignal(connection: blocking, prefix: "pp")
      try await signal.pass()
      #expect(try await signal.wait(maxMs: 20) == WorkNews())
      blocking.close()
    }
  }
}
