internal import Glibc
internal import Model
internal import PushpoolConfiguration
internal import Synchronization

/// The rules of local time: the system's time zones. Shared by the lanes of a process.
final class LocalTimes: Sendable {
  private let known = Mutex<(zones: [String: TimeZoneRules], atSeconds: Int)?>(nil)

  /// When the job starts where.
  /// - Parameters:
  ///   - appZone: the time zone of its app; nil for none.
  ///   - nowMs: when it was enqueued, in epoch milliseconds.
  /// - Throws: what is to be changed of the job or of this machine.
  func schedule(
    _ delivery: LocalDelivery, appZone: String?, nowMs: Int64
  ) async throws(InvalidField) -> LocalSchedule {
    // Detached, since other tasks prefer the lane's thread, for which it takes too long.
    try await Task.detached { [self] in
      Result { () throws(InvalidField) in
        try LocalSchedule(delivery, in: try zones(), appZone: appZone, nowMs: nowMs)
      }
    }.value.get()
  }

  private func zones() throws(InvalidField) -> [String: TimeZoneRules] {
    let now = Glibc.time(nil)
    if let known = known.withLock({ $0 }), now - known.atSeconds < WorkerLimits.timeZonesSeconds {
      return known.zones
    }
    do throws(TimeZonesMissing) {
      let zones = try TimeZoneDatabase().zones
      known.withLock { $0 = (zones, now) }
      return zones
    } catch {
      throw InvalidField(pointer: "/deliver_local", message: "\(error); then retry this")
    }
  }
}
