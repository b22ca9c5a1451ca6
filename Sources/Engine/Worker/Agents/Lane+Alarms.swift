internal import Logging
internal import Reactor
internal import Redis
internal import Store

extension Lane {
  /// Raises, renews and ends the alarms of destinations whose pushes wait, or did, and of a clock that is wrong.
  func reportAlarms() async {
    // One lane speaks for the process.
    let shortage = settings.isFirst ? dispatcher.shortageTrouble : nil
    let ofProcess = [clockTrouble, shortage].compactMap { $0 }
    let troubles = dispatcher.troubles + ofProcess
    let over = raisedAlarms.keys.filter { field in !troubles.contains { $0.field == field } }
    do throws(RedisError) {
      for field in over {
        try await store.alarms.clear(field, by: settings.consumer)
        raisedAlarms[field] = nil
      }
      for trouble in troubles where isDue(trouble.field) {
        try await store.alarms.raise(
          trouble.field, by: settings.consumer, lifeMs: WorkerLimits.alarmLifeMs,
          message: trouble.sentence)
        raisedAlarms[trouble.field] = loop.nowNs
      }
    } catch { log.debug("alarms: \(error)") }
  }

  private func isDue(_ field: String) -> Bool {
    guard let raisedNs = raisedAlarms[field] else { return true }
    return loop.nowNs &- raisedNs >= WorkerLimits.alarmRenewalMs * 1_000_000
  }
}
