import LocalServices
import Model
import Redis
import Testing

@testable import Store

@Suite struct WorkSignalTests {
  private static let all = Set(WorkKind.allCases)

  /// A store, and the signals of as many processes.
  private func with(
    signals count: Int, _ body: @Sendable (ShardStore, [WorkSignal]) async throws -> Void
  ) async throws {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      var blocking: [RedisConnection] = []
      for _ in 0..<count { blocking.append(try await lane.connect(server)) }
      let signals = blocking.map { WorkSignal(connection: $0, prefix: "pp") }
      for signal in signals { try await signal.pass() }
      try await body(ShardStore(connection: connection, prefix: "pp"), signals)
      for connection in blocking + [connection] { connection.close() }
    }
  }

  @Test(arguments: [true, false])
  func `work that comes before or during the wait ends it`(isBefore: Bool) async throws {
    try await with(signals: 1) { store, signals in
      try await store.admit("old", users: [["a"]])
      _ = try await store.claimOne()
      try await signals[0].pass()
      if isBefore {
        try await store.admit("new", users: [["b"]])
      } else {
        let add = RedisCommand("XADD", store.keys.jobs(.low), "*", "job", "{}")
        // Sent in the turn in which the wait begins, over another connection.
        store.connection.send(add) { _ in }
      }
      let signs = try await signals[0].wait(for: Self.all, maxMs: 60_000)
      #expect(signs.map(\.kind) == [isBefore ? .chunks : .jobs])
    }
  }

  @Test func `each entry ends one wait, and none that somebody was given before`() async throws {
    try await with(signals: 1) { store, signals in
      for _ in 0..<4 { _ = try await store.jobs.enqueue([0x7b, 0x7d], priority: .high) }
      for _ in 0..<2 {
        #expect(try await signals[0].wait(for: Self.all, maxMs: 60_000).map(\.kind) == [.jobs])
      }
      #expect(try await store.jobs.take(consumer: "w", max: 3).count == 3)
      try await signals[0].pass()
      #expect(try await signals[0].wait(for: Self.all, maxMs: 60_000).map(\.kind) == [.jobs])
      #expect(try await signals[0].wait(for: Self.all, maxMs: 20).isEmpty)
    }
  }

  @Test func `of each entry one process is told`() async throws {
    try await with(signals: 3) { store, signals in
      for _ in 0..<2 { _ = try await store.jobs.enqueue([0x7b, 0x7d], priority: .high) }
      var told: [Int] = []
      for signal in signals {
        told.append(try await signal.wait(for: Self.all, maxMs: 20).count)
      }
      #expect(told == [1, 1, 0])
    }
  }

  @Test func `an entry that is given back is told to another process, unless somebody has it`()
    async throws
  {
    try await with(signals: 2) { store, signals in
      _ = try await store.jobs.enqueue([0x7b, 0x7d], priority: .high)
      let signs = try await signals[0].wait(for: Self.all, maxMs: 60_000)
      try await signals[0].pass(givingBack: signs)
      let again = try await signals[1].wait(for: Self.all, maxMs: 60_000)
      #expect(again == signs && !signs.isEmpty)
      #expect(try await store.jobs.take(consumer: "w", max: 1).count == 1)
      try await signals[1].pass(givingBack: again)
      #expect(try await signals[0].wait(for: Self.all, maxMs: 20).isEmpty)
    }
  }

  @Test("a large job is told of by its beginning, beside what comes after it")
  func large() async throws {
    try await with(signals: 1) { store, signals in
      try await store.admit("small", users: [["a"]])
      let bytes = 8 << 20
      let large = Array((#"{"ballast":""# + String(repeating: "x", count: bytes) + #""}"#).utf8)
      let entry = try await store.jobs.enqueue(large, priority: .high)
      let behind = try await store.jobs.enqueue(Array("{}".utf8), priority: .high)
      var signs: [WorkSign] = []
      let sent = try await store.sent {
        signs = try await signals[0].wait(for: Self.all, maxMs: 60_000)
      }
      #expect(signs.map(\.kind) == [.chunks, .jobs] && signs.last?.entry.text == entry)
      #expect(sent < bytes / 2, "\(sent) bytes")
      signs = try await signals[0].wait(for: Self.all, maxMs: 60_000)
      #expect(signs.map(\.entry.text) == [behind])
      #expect(try await store.jobs.take(consumer: "w", max: 2).first?.text == large)
    }
  }

  @Test func `of a kind that is not waited for the next to wait for it is told`() async throws {
    try await with(signals: 1) { store, signals in
      _ = try await store.jobs.enqueue([0x7b, 0x7d], priority: .high)
      #expect(try await signals[0].wait(for: [.chunks], maxMs: 20).isEmpty)
      #expect(try await signals[0].wait(for: [.jobs], maxMs: 60_000).count == 1)
    }
  }

  @Test func `without work the wait ends in time`() async throws {
    try await with(signals: 1) { _, signals in
      let signs = try await signals[0].wait(for: Self.all, maxMs: 20)
      #expect(signs.isEmpty)
    }
  }

  @Test func `what Redis has lost is made again`() async throws {
    try await with(signals: 1) { store, signals in
      _ = try await store.redis("FLUSHALL")
      await #expect(throws: RedisError.self) {
        _ = try await signals[0].wait(for: Self.all, maxMs: 20)
      }
      try await signals[0].pass()
      #expect(try await signals[0].wait(for: Self.all, maxMs: 20).isEmpty)
    }
  }
}
