internal import Logging
internal import Redis
internal import Store

/// Raises alarms, renews them while their conditions hold, and ends them; loop-bound.
final class AlarmKeeper {
  private let alarms: AlarmStore
  private let consumer: String
  private let log: Logger
  private let nowNs: () -> UInt64
  /// When each alarm that it has raised was raised last.
  private var raisedNs: [String: UInt64] = [:]

  /// - Parameter nowNs: a clock that is never set.
  init(alarms: AlarmStore, consumer: String, log: Logger, nowNs: @escaping () -> UInt64) {
    self.alarms = alarms
    self.consumer = consumer
    self.log = log
    self.nowNs = nowNs
  }

  /// - Parameter conditions: all that hold now.
  func report(_ conditions: [AlarmCondition]) async {
    let over = raisedNs.keys.filter { field in !conditions.contains { $0.field == field } }
    do throws(RedisError) {
      for field in over {
        try await alarms.clear(field, by: consumer)
        raisedNs[field] = nil
      }
      for condition in conditions where isDue(condition.field) {
        try await alarms.raise(
          condition.field, by: consumer, lifeMs: WorkerLimits.alarmLifeMs,
          message: condition.sentence)
        raisedNs[condition.field] = nowNs()
      }
    } catch { log.debug("alarms: \(error)") }
  }

  private func isDue(_ field: String) -> Bool {
    guard let raisedNs = raisedNs[field] else { return true }
    return nowNs() &- raisedNs >= WorkerLimits.alarmRenewalMs * 1_000_000
  }
}
