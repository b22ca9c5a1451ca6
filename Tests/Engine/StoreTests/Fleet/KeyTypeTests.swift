import Model
import Redis
import Testing

@testable import Store

/// A value of a wrong type under a key that all work needs.
@Suite struct KeyTypeTests {
  private static let keys = Keys(prefix: "{pp}")
  private static let named: [String] =
    Priority.allCases.flatMap { [keys.jobs($0), keys.chunks($0), keys.readyApps($0)] }
    + [keys.delayed, keys.open, keys.finished, keys.dead]
  private static let others = [
    keys.uninstalled, keys.audit, keys.share(.normal), keys.scout(.high), keys.express(.low),
    keys.promoter, keys.workers, keys.alarms, keys.oldest, keys.leaving,
  ]

  /// Neither a stream nor any other type that one of the keys has.
  private static func spoil(_ key: String, _ store: Store) async throws {
    _ = try await store.redis("DEL", key)
    _ = try await store.redis("SETBIT", key, "0", "1")
    if key == keys.promoter {
      _ = try await store.redis("DEL", key)
      _ = try await store.redis("LPUSH", key, "wrong")
    }
  }

  @Test("what stands in place of the switches is an alarm, and is left for somebody to look at")
  func tellsOfSwitches() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.redis("SET", store.keys.switches, "x")
      #expect(
        try await store.keyTypes.alarms(nowMs: 1).map(\.field) == ["wrong_type|switches"])
      _ = try await store.workers.beat(worker: "w", fields: [])
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(alarm.field == "wrong_type|switches")
      #expect(alarm.message.contains("delete the key, then switch off anew"))
      #expect(try await store.redis("GET", store.keys.switches).string == "x")
    }
  }

  @Test("a beat moves it aside with an alarm, and the work goes on", arguments: named + others)
  func movesAside(key: String) async throws {
    try await Lane.withStore { _, store in
      try await store.install("u1", "aa")
      try await Self.spoil(key, store)
      _ = try await store.workers.beat(worker: "w", fields: [])
      let name = String(key.dropFirst("{pp}:".count))
      #expect(try await store.redis("EXISTS", store.keys.displaced(name)).integer == 1)
      let alarms = try await store.alarms.current(nowMs: 0)
      #expect(alarms.map(\.field) == ["wrong_type|\(name)"])
      #expect(try await store.keyTypes.alarms(nowMs: 1).isEmpty)
      for priority in Priority.allCases {
        try await store.admit("j-\(priority)", users: [["u1"]], priority: priority)
        let claim = try await store.claimOne()
        let answer = try await store.chunks.settle(
          claim, .final(accepted: 1, users: 1), consumer: "worker")
        #expect(answer.standing == .ok)
        #expect(try await store.record("j-\(priority)").state == .done)
      }
      _ = try await store.chunks.promote(max: 10, as: "w")
      _ = try await store.workers.beat(worker: "w", fields: [])
      #expect(try await store.alarms.current(nowMs: 0).count == 1)
    }
  }

  @Test("who only reads is told of it, and reads on", arguments: named)
  func tells(key: String) async throws {
    try await Lane.withStore { _, store in
      try await Self.spoil(key, store)
      let alarms = try await store.keyTypes.alarms(nowMs: 1)
      #expect(alarms.map(\.field) == ["wrong_type|\(key.dropFirst("{pp}:".count))"])
      #expect(alarms[0].message.contains("\(key) holds a string"))
      _ = try await store.backlog.status()
      _ = try await store.backlog.heldChunks()
    }
  }
}
