internal import Synchronization

/// The standing of a process's configuration: which one is in force, and why a newer one is not. Its beats and one of its alarms
/// tell it. Shared by the lanes of a process.
final class ConfigurationStanding: Sendable {
  private struct State {
    var digest = ""
    /// Since when it is in force, by `FleetClock.uptimeMs`.
    var loadedAtMs: Int64 = 0
    /// Why the one that is there now was refused.
    var refusal: AlarmCondition?
    /// Settings that have changed and have no effect before a restart.
    var awaitingRestart: [String] = []
    var redisApps: RedisAppsStanding?
    /// The sentence that says why the lanes have not started.
    var awaited: String?
  }

  /// The standing of the apps of Redis.
  struct RedisAppsStanding: Equatable, Sendable {
    /// How many can be sent for.
    let usable: Int
    let leftOut: Int
    /// The last change that was read; nil when there was none.
    let change: String?
    /// Why changes are not taken, and what else operators are to know of these apps; none when all is well.
    let troubles: [AlarmCondition]
  }

  private let state = Mutex(State())

  /// Another configuration is in force.
  /// - Parameter digest: the same in all workers that have an equal one.
  func noteLoaded(_ digest: String, uptimeMs: Int64) {
    state.withLock { state in
      guard state.digest != digest else { return }
      (state.digest, state.loadedAtMs) = (digest, uptimeMs)
    }
  }

  /// - Parameter refusal: why the configuration that is there is not in force; nil when it is.
  /// - Returns: whether it was told something else before.
  @discardableResult
  func noteRefusal(_ refusal: AlarmCondition?) -> Bool {
    state.withLock { state in
      defer { state.refusal = refusal }
      return state.refusal != refusal
    }
  }

  /// - Parameter names: the settings that have changed and have no effect before a restart.
  /// - Returns: whether they were others before.
  @discardableResult
  func noteAwaitingRestart(_ names: [String]) -> Bool {
    state.withLock { state in
      defer { state.awaitingRestart = names }
      return state.awaitingRestart != names
    }
  }

  /// - Parameter standing: nil when there are to be no apps of Redis.
  /// - Returns: the troubles among them that were not there before.
  @discardableResult
  func noteRedisApps(_ standing: RedisAppsStanding?) -> [AlarmCondition] {
    state.withLock { state in
      defer { state.redisApps = standing }
      let before = state.redisApps?.troubles ?? []
      return (standing?.troubles ?? []).filter { !before.contains($0) }
    }
  }

  /// - Parameter awaited: what the lanes wait for before they start, as a sentence; nil when they wait for nothing any more.
  func noteAwaited(_ awaited: String?) { state.withLock { $0.awaited = awaited } }

  /// The sentence that says what the lanes wait for before they start; nil when they wait for nothing.
  var awaited: String? { state.withLock { $0.awaited } }

  /// The alarm while the configuration that is there is refused.
  var alarmCondition: AlarmCondition? { state.withLock { $0.refusal } }

  /// The alarms while the apps of Redis are not taken as they are, or soon will not be.
  var redisAppsAlarms: [AlarmCondition] { state.withLock { $0.redisApps?.troubles ?? [] } }

  /// The fields of a beat.
  /// - Parameter bootedAtMs: when `FleetClock.uptimeMs` was 0, in epoch milliseconds.
  func fields(bootedAtMs: Int64) -> [(String, String)] {
    let state = state.withLock { $0 }
    return [
      ("configuration_digest", state.digest),
      ("configuration_loaded_at", String(bootedAtMs + state.loadedAtMs)),
      // Empty where there is nothing: a HASH keeps what it was told before.
      ("restart_awaited_by", state.awaitingRestart.joined(separator: ", ")),
      ("configuration_alarm", state.refusal?.field ?? ""),
      ("redis_apps", state.redisApps.map { String($0.usable) } ?? ""),
      ("redis_apps_left_out", state.redisApps.map { String($0.leftOut) } ?? ""),
      ("redis_apps_change", state.redisApps?.change ?? ""),
    ]
  }
}
