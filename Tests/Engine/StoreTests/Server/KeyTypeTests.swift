import Foundation
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
    keys.timeline, keys.totals, keys.accessKeys, keys.acts, keys.shards, keys.elsewhere,
  ]
  /// Keys that workers leave where they are, and what is to be done about each.
  private static let staying = [
    (keys.switches, "redis-cli RENAME {pp}:switches:new {pp}:switches"),
    (keys.generation, "redis-cli SET {pp}:generation $(date +%s)000"),
    (keys.indexed, "run pushpool index for each app"),
    (keys.shard, "delete the key, and the next"),
  ]

  /// Neither a stream nor any other type that one of the keys has.
  private static func spoil(_ key: String, _ store: ShardStore) async throws {
    _ = try await store.redis("DEL", key)
    _ = try await store.redis("SETBIT", key, "0", "1")
    if [keys.promoter, keys.generation, keys.shard].contains(key) {
      _ = try await store.redis("DEL", key)
      _ = try await store.redis("LPUSH", key, "wrong")
    }
  }

  @Test(
    "what stands in place of the switches and the like is an alarm, and is left for somebody to look at",
    arguments: staying.indices)
  func leavesThere(index: Int) async throws {
    let (key, advice) = Self.staying[index]
    let field = "wrong_type|\(key.dropFirst("{pp}:".count))"
    try await Lane.withStore { _, store in
      try await Self.spoil(key, store)
      let told = try await store.keyTypes.alarms(nowMs: 1)
      #expect(told.map(\.field) == [field] && told[0].message.contains(advice), "\(told)")
      _ = try await store.workers.beat(worker: "w", fields: [])
      let alarm = try #require(try await store.alarms.current(nowMs: 0).first)
      #expect(alarm.field == field && alarm.message.contains(advice), "\(alarm)")
      #expect(try await store.redis("EXISTS", key).integer == 1)
      let aside = store.keys.displaced(String(key.dropFirst("{pp}:".count)))
      #expect(try await store.redis("EXISTS", aside).integer == 0)
    }
  }

  @Test(
    "the keys that workers leave where they are, and those that they move, are those that are tried here"
  )
  func lists() throws {
    let source = String(decoding: PackageResources.types_lua, as: UTF8.self)
    func names(in table: String, _ pattern: Regex<(Substring, Substring)>) throws -> Set<String> {
      let start = try #require(source.range(of: "local \(table) = {\n")).upperBound
      let stop = try #require(source[start...].range(of: "\n}\n")).lowerBound
      return Set(String(source[start..<stop]).matches(of: pattern).map { "{pp}:\($0.1)" })
    }
    let staying = try names(in: "STAYING", /(?m)^  ([a-z_]+) = \{/)
    #expect(staying == Set(Self.staying.map { $0.0 }))
    let moved = try names(in: "SINGLE", /([a-z_]+) = '/)
    #expect(
      moved.subtracting(Self.named + Self.others) == ["{pp}:workers_since", "{pp}:unbound"])
  }

  @Test("what stands in place of the minute's outcomes is moved aside, and they are counted")
  func countsOn() async throws {
    try await Lane.withStore { _, store in
      let seconds = try await store.serverSeconds()
      // The minute may end meanwhile.
      let keys = [0, 60].map { store.keys.metrics(Minute.name(epochSeconds: seconds + $0)) }
      for key in keys { _ = try await store.redis("SET", key, "x") }
      #expect(try await store.keyTypes.alarms(nowMs: seconds * 1_000).count == 1)
      _ = try await store.workers.beat(worker: "w", fields: [])
      var found = 0
      for key in keys {
        let name = String(key.dropFirst("{pp}:".count))
        found += try await store.redis("EXISTS", store.keys.displaced(name)).integer ?? 0
      }
      #expect(found >= 1)
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

  @Test(
    "who only reads is told of it, and reads on",
    arguments: named + [
      keys.timeline, keys.audit, keys.uninstalled, keys.workers, keys.alarms, keys.shards,
      keys.elsewhere,
    ])
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
