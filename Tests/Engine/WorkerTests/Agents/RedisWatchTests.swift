import LocalServices
import Logging
import Model
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

@Suite struct RedisWatchTests {
  private static func watch(
    _ stage: LaneStage, _ accepted: Set<RedisRisk> = [.noAppendOnlyFile],
    nowNs: @escaping () -> UInt64 = { 0 }
  ) -> RedisWatch {
    RedisWatch(
      settings: stage.store.settings, accepted: accepted, log: stage.lines.logger, nowNs: nowNs)
  }

  @Test("a setting that costs work is an alarm and a line of the log while it lasts, once")
  func tells() async throws {
    try await LaneStage.with { _, stage in
      let watch = Self.watch(stage)
      #expect(await watch.turn() == WorkerLimits.redisLookMs)
      #expect(watch.alarmConditions.isEmpty && stage.lines.all.isEmpty)
      _ = try await stage.redis("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
      for _ in 0..<2 { _ = await watch.turn() }
      #expect(watch.alarmConditions.map(\.field) == ["unsafe_redis|eviction"])
      #expect(watch.alarmConditions[0].sentence.contains("maxmemory-policy volatile-lru"))
      #expect(stage.lines.all.count == 1 && stage.lines.has(.error, "maxmemory-policy"))
      _ = try await stage.redis("CONFIG", "SET", "maxmemory-policy", "noeviction")
      _ = await watch.turn()
      #expect(watch.alarmConditions.isEmpty && stage.lines.has(.notice, "Redis is mended"))
    }
  }

  @Test("what is accepted is told to nobody, and only any key's eviction keeps a worker away")
  func accepts() async throws {
    try await LaneStage.with { _, stage in
      let everything = Self.watch(stage, Set(RedisRisk.allCases))
      let nothing = Self.watch(stage, [])
      for policy in ["volatile-lru", "allkeys-lru"] {
        _ = try await stage.redis("CONFIG", "SET", "maxmemory-policy", policy)
        _ = await everything.turn()
        #expect(everything.alarmConditions.isEmpty)
        #expect(try await nothing.refusal() == nil)
      }
      _ = try await stage.redis("CONFIG", "SET", "maxmemory", "1gb")
      #expect(try await nothing.refusal()?.contains("maxmemory-policy allkeys-lru") == true)
      #expect(try await everything.refusal() == nil)
      _ = await nothing.turn()
      #expect(
        nothing.alarmConditions.map(\.field) == [
          "unsafe_redis|eviction", "unsafe_redis|no_append_only_file",
        ])
    }
  }

  @Test("keys that Redis evicts are an alarm for an hour, with their number")
  func countsEvictions() async throws {
    try await LaneStage.with { _, stage in
      var nowNs: UInt64 = 0
      let watch = Self.watch(stage, [.noAppendOnlyFile, .eviction], nowNs: { nowNs })
      _ = await watch.turn()
      _ = try await stage.redis("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
      for number in 0..<100 { _ = try await stage.redis("SET", "k\(number)", "x") }
      _ = try await stage.redis("CONFIG", "SET", "maxmemory", "1")
      _ = try? await stage.redis("SET", "one", "more")
      _ = try await stage.redis("CONFIG", "SET", "maxmemory", "0")
      _ = await watch.turn()
      let evicted = try await stage.store.settings.read().evictedKeys
      #expect(evicted > 0)
      #expect(watch.alarmConditions.map(\.field) == ["unsafe_redis|evicted"])
      #expect(watch.alarmConditions.first?.sentence.contains("evicted \(evicted) key") == true)
      nowNs = WorkerLimits.evictedToldMs * 1_000_000
      _ = await watch.turn()
      #expect(watch.alarmConditions.isEmpty)
    }
  }

  @Test("that Redis may not be asked is said once")
  func isForbidden() async throws {
    try await LaneStage.with { _, stage in
      _ = try await stage.redis("ACL", "SETUSER", "default", "-info")
      let watch = Self.watch(stage)
      for _ in 0..<2 { _ = await watch.turn() }
      #expect(stage.lines.all.count == 1 && stage.lines.has(.warning, "INFO fails"))
      #expect(watch.alarmConditions.isEmpty)
    }
  }

  @Test("a counter of evictions that begins again counts nothing")
  func beginsAgain() {
    var tally = EvictionTally()
    for total in [500, 500, 20, 20] { tally.note(total, nowNs: 1) }
    #expect(tally.count == 0)
    tally.note(23, nowNs: 2)
    #expect(tally.count == 3)
  }
}
