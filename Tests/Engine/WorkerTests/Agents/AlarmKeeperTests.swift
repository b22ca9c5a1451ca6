import Store
import Testing

@testable import Worker

@Suite struct AlarmKeeperTests {
  private static let condition = AlarmCondition(
    field: "breaker|shop|apns|all", sentence: "pushes wait")

  @Test("an alarm is raised at once, renewed in time and not before, and ended with its trouble")
  func keepsAlarms() async throws {
    try await LaneStage.with { _, parts in
      var nowNs: UInt64 = 0
      let keeper = AlarmKeeper(
        alarms: parts.store.alarms, consumer: "w", log: parts.lines.logger, nowNs: { nowNs })
      func current() async throws -> [Alarm] { try await parts.store.alarms.current(nowMs: 0) }

      await keeper.report([Self.condition])
      #expect(try await current().map(\.message) == ["pushes wait"])
      // Somebody takes it away: it comes back with its renewal.
      try await parts.store.alarms.clear(Self.condition.field, by: "w")
      nowNs = (WorkerLimits.alarmRenewalMs - 1) * 1_000_000
      await keeper.report([Self.condition])
      #expect(try await current().isEmpty)
      nowNs = WorkerLimits.alarmRenewalMs * 1_000_000
      await keeper.report([Self.condition])
      #expect(try await current().count == 1)
      await keeper.report([])
      #expect(try await current().isEmpty)
    }
  }
}
