import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing

@Suite struct FleetSnapshotTests {
  @Test func `what two shards count is added up`() async throws {
    try await Shards.withStores { _, stores in
      for (number, store) in stores.enumerated() {
        for _ in 0...number { _ = try await store.jobs.enqueue([], priority: .high) }
        try await count(3 + number, "shop|apns|accepted", in: store)
        // One of three chunks is in a worker's hands.
        let stream = store.keys.chunks(.normal)
        for _ in 0..<3 { try await run(store, "XADD", stream, "*", "segment", "1") }
        try await run(store, "XGROUP", "CREATE", stream, "workers", "0")
        try await run(
          store, "XREADGROUP", "GROUP", "workers", "w-0", "COUNT", "1", "STREAMS", stream, ">")
        try await run(store, "XADD", store.keys.dead, "*", "kind", "job")
      }
      let sum = try await FleetSnapshot.read(stores)
      #expect(sum.queues.jobs[.high] == 3 && sum.queues.dead == 2)
      #expect(sum.queues.chunks[.normal] == 6 && sum.held[.normal] == 2)
      #expect(sum.waiting(.normal) == 4 && sum.waiting(.high) == 0)
      #expect(sum.outcomes.map(\.names) == [["shop", "apns", "accepted"]])
      #expect(sum.outcomes.map { $0.last + $0.this } == [7])
      let one = try await FleetSnapshot.read([stores[1]])
      #expect(one.queues.jobs[.high] == 2 && one.held[.normal] == 1 && one.queues.dead == 1)
    }
  }

  @Test func `a worker, an alarm about it and a switch of two shards are shown once`() async throws
  {
    try await Shards.withStores { _, stores in
      for (number, store) in stores.enumerated() {
        try await store.workers.beat(worker: "both", fields: [("lanes", "2")])
        try await store.workers.beat(worker: "only-\(number)", fields: [("lanes", "1")])
        // Each shard has a clock of its own.
        for field in ["memory|both", "clock|both"] {
          try await store.alarms.raise(field, by: "both", lifeMs: 60_000, message: "trouble")
        }
        _ = try await store.switches.switchOff(.app("shop"), reason: "wrong text")
      }
      _ = try await stores[1].switches.switchOff(.app("news"), reason: "")
      let snapshot = try await FleetSnapshot.read(stores)
      #expect(Set(snapshot.living.map(\.worker)) == ["both", "only-0", "only-1"])
      #expect(snapshot.living.count == 3 && snapshot.lost.isEmpty)
      #expect(
        Set(snapshot.alarms.map { "\($0.field) \($0.sentence)" }) == [
          "memory|both trouble", "clock|both shard main: trouble", "clock|both shard eu: trouble",
        ])
      #expect(snapshot.alarms.count == 3 && snapshot.alarms.allSatisfy { $0.message == "trouble" })
      // Who counts kinds counts each once.
      let fields = snapshot.alarmFields(accepting: [.noAppendOnlyFile])
      #expect(fields.sorted() == ["clock|both", "memory|both"])
      #expect(snapshot.switches.count == 2)
      #expect(Set(snapshot.switches.entries.map(\.killSwitch)) == [.app("shop"), .app("news")])
    }
  }

  @Test func `a worker that fell silent is lost, one that left is not`() async throws {
    try await Shards.withStores { _, stores in
      try await stores[0].workers.beat(worker: "silent", fields: [("lanes", "1")])
      try await stores[0].workers.beat(worker: "left", fields: [("lanes", "1")])
      try await stores[0].workers.forget(worker: "left")
      let before = try await stores[0].serverSeconds() * 1_000
      let longAgo = before - OperationsLimits.workerSilentMs - 1_000
      try await run(stores[0], "ZADD", stores[0].keys.workers, String(longAgo), "silent")
      let snapshot = try await FleetSnapshot.read(stores)
      #expect(snapshot.living.isEmpty && snapshot.lost.map(\.worker) == ["silent"])
    }
  }

  @Test func `a worker lives that beat a second and a half ago, and not one that did three ago`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let store = stores[0]
      // Ages are told in whole seconds: when one begins before the look, it is tried again.
      for _ in 0..<100 {
        let nowMs = try await store.serverSeconds() * 1_000
        for (worker, ageMs) in [("late", Int64(1_500)), ("silent", 3_000)] {
          try await store.workers.beat(worker: worker, fields: [("lanes", "1")])
          try await run(store, "ZADD", store.keys.workers, String(nowMs - ageMs), worker)
        }
        let snapshot = try await FleetSnapshot.read([store])
        guard snapshot.nowMs == nowMs else { continue }
        #expect(snapshot.living.map(\.worker) == ["late"])
        #expect(snapshot.lost.map(\.worker) == ["silent"])
        return
      }
      Issue.record("a second began each time")
    }
  }

  @Test
  func
    `the newest configuration is the one that came into force last, whoever loaded an older one later`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let workers = [
        ("w1", "sha256:new", 5_000), ("w2", "sha256:old", 1_000), ("w3", "sha256:new", 9_000),
        ("w4", "sha256:old", 8_000),
      ]
      for (name, digest, loadedMs) in workers {
        try await stores[0].workers.beat(
          worker: name,
          fields: [
            ("configuration_digest", digest), ("configuration_loaded_at", "\(loadedMs)"),
            ("restart_awaited_by", name == "w2" ? "redis.url" : ""),
            ("configuration_alarm", name == "w2" || name == "w4" ? "configuration|apps" : ""),
          ])
      }
      // One of a version before.
      try await stores[0].workers.beat(worker: "w0", fields: [("lanes", "1")])
      let snapshot = try await FleetSnapshot.read(stores)
      let newest = try #require(snapshot.newestConfiguration)
      #expect(newest.digest == "sha256:new" && newest.sinceMs == 5_000)
      #expect(newest.workers == ["w1", "w3"] && newest.others == ["w2", "w4"])
      #expect(newest.unknown == ["w0"] && newest.count == 5)
      #expect(snapshot.living.compactMap { snapshot.restartAwaitedBy($0) } == ["redis.url"])
      #expect(snapshot.refusingConfiguration == ["w2", "w4"])
    }
  }

  @Test func `an empty fleet has nothing to show`() async throws {
    try await Shards.withStores { _, stores in
      let snapshot = try await FleetSnapshot.read(stores)
      #expect(snapshot.workers.isEmpty && snapshot.alarms.isEmpty && snapshot.outcomes.isEmpty)
      #expect(snapshot.newestConfiguration == nil)
      #expect(snapshot.queues.backlog == 0 && snapshot.nowMs > 0 && snapshot.nowMs % 1_000 == 0)
    }
  }

  private func count(_ count: Int, _ name: String, in store: ShardStore) async throws {
    let minute = Minute.name(epochSeconds: try await store.serverSeconds())
    try await run(store, "HINCRBY", store.keys.metrics(minute), name, String(count))
  }

  private func run(_ store: ShardStore, _ words: String...) async throws(RedisError) {
    var command = RedisCommand()
    for word in words { command.append(word) }
    _ = try await store.connection.call(command)
  }
}
