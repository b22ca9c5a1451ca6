internal import Configuration
internal import Glibc
internal import Model
internal import Synchronization

/// The rules of local time: the system's time zones, and those of the apps. Shared by the lanes of a process.
final class LocalTimes: Sendable {
  /// By app.
  private let homes: [String: String]
  private let known = Mutex<(zones: [String: TimeZoneRules], atSeconds: Int)?>(nil)

  /// - Parameter homes: the time zone of each app that has one in the configuration.
  init(homes: [String: String] = [:]) { self.homes = homes }

  /// When the job starts where.
  /// - Parameter nowMs: when it was enqueued, in epoch milliseconds.
  /// - Throws: what is to be changed of the job or of this machine.
  func schedule(
    _ delivery: LocalDelivery, app: String, nowMs: Int64
  ) async throws(InvalidField) -> LocalSchedule {
    // Detached, since other tasks prefer the lane's thread, for which it takes too long.
    try await Task.detached { [self] in
      Result { () throws(InvalidField) in
        try LocalSchedule(delivery, in: try zones(), appZone: homes[app], nowMs: nowMs)
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
