import Logging
import Model
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

@Suite struct RecordOutlookTests {
  private static let usual = JobRetention(
    manySeconds: 604_800, namedSeconds: 7_200, unnamedSeconds: 60)

  private static func watch(_ stage: LaneStage) -> RedisWatch {
    RedisWatch(
      settings: stage.store.settings,
      records: RecordOutlook(
        store: stage.store, retention: RetentionRules(usual: usual), log: stage.lines.logger),
      accepted: [.noAppendOnlyFile], log: stage.lines.logger, nowNs: { 0 })
  }

  /// Has a million jobs end within the last hour, of which the last was this one.
  private static func end(
    _ stage: LaneStage, _ id: String, failed: Int = 0
  ) async throws {
    let nowMs = try await stage.store.serverSeconds() * 1_000
    _ = try await stage.redis("DEL", "{pp}:finished", "{pp}:timeline")
    _ = try await stage.redis(
      "XADD", "{pp}:finished", "1-0", "app", "shop", "id", id, "state", "done", "total", "1",
      "accepted", "\(1 - failed)", "failed", "\(failed)")
    _ = try await stage.redis("XSETID", "{pp}:finished", "2-0", "ENTRIESADDED", "1000000")
    _ = try await stage.redis(
      "XADD", "{pp}:timeline", "\(nowMs - 3_600_000)-0", "backlog", "0", "ended", "0")
  }

  @Test("records that will fill the memory are an alarm with its figures, until they will not")
  func warns() async throws {
    try await LaneStage.with { _, stage in
      try await Self.end(stage, "order-1")
      let watch = Self.watch(stage)
      _ = try await stage.redis("CONFIG", "SET", "maxmemory", "500mb")
      // As a managed Redis has it.
      _ = try await stage.redis("ACL", "SETUSER", "default", "-config")
      for _ in 0..<2 { _ = await watch.turn() }
      let alarm = try #require(watch.alarmConditions.first)
      #expect(watch.alarmConditions.count == 1 && alarm.field == "record_memory|redis")
      // 278 a second, 338 bytes each, for two hours.
      for words in ["0.6 GiB", "278 jobs a second", "2.0 h in the mean", "maxmemory is 0.5 GiB"] {
        #expect(alarm.sentence.contains(words), "\(words): \(alarm.sentence)")
      }
      #expect(stage.lines.all.count == 1 && stage.lines.has(.warning, "the records of ended jobs"))
      _ = try await stage.redis("ACL", "SETUSER", "default", "+config")
      _ = try await stage.redis("CONFIG", "SET", "maxmemory", "2gb")
      _ = await watch.turn()
      #expect(watch.alarmConditions.isEmpty)
    }
  }

  @Test("jobs without an id of their own are kept for a minute, and jobs that failed for a week")
  func knowsKinds() async throws {
    for (id, failed, isAlarm) in [("n1800000000000-0", 0, false), ("n1800000000000-0", 1, true)] {
      try await LaneStage.with { _, stage in
        try await Self.end(stage, id, failed: failed)
        _ = try await stage.redis("CONFIG", "SET", "maxmemory", "500mb")
        let watch = Self.watch(stage)
        _ = await watch.turn()
        #expect(!watch.alarmConditions.isEmpty == isAlarm)
      }
    }
  }

  @Test("where no job has ended, or only since a moment, nothing is said")
  func knowsNothing() async throws {
    try await LaneStage.with { _, stage in
      _ = try await stage.redis("CONFIG", "SET", "maxmemory", "500mb")
      let watch = Self.watch(stage)
      _ = await watch.turn()
      #expect(watch.alarmConditions.isEmpty)
      try await Self.end(stage, "order-1")
      _ = try await stage.redis("DEL", "{pp}:timeline")
      _ = await watch.turn()
      #expect(watch.alarmConditions.isEmpty && stage.lines.all.isEmpty)
    }
  }
}
