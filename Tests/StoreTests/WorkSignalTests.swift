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
      try await signal.arm()
      if isBefore {
        try await store.admit("new", users: [["b"]])
      } else {
        let add = RedisCommand("XADD", store.keys.jobs(.low), "*", "job", "{}")
        // Sent in the turn in which the wait begins, over another connection.
        connection.send(add) { _ in }
      }
      #expect(try await signal.wait(maxMs: 60_000) == (isBefore ? .chunks : .jobs))
      connection.close()
      blocking.close()
    }
  }

  @Test func `without work the wait ends in time`() async throws {
    try await Lane.withServer { lane, server in
      let blocking = try await lane.connect(server)
      let signal = WorkSignal(connection: blocking, prefix: "pp")
      try await signal.arm()
      #expect(try await signal.wait(maxMs: 20) == .none)
      blocking.close()
    }
  }
}
