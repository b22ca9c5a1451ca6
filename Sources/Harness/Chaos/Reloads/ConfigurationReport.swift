import Redis
import Stage
import Store

/// The words of a fleet's workers about their configuration, which each says anew every second.
struct ConfigurationReport: Sendable {
  private(set) var workers: Set<String> = []
  /// The configurations in force.
  private(set) var digests: Set<String> = []
  /// The alarms of configurations that are refused; empty text for a worker that refuses none.
  private(set) var refusals: Set<String> = []
  /// The apps of Redis that are taken: how many, and up to which change.
  private(set) var tenants: Set<String> = []

  init(_ session: ChaosSession) async throws {
    let names = try await session.command("ZRANGE", "pushpool:workers", "0", "-1").array ?? []
    for name in names.compactMap(\.string) {
      let told =
        try await session.command(
          "HMGET", "pushpool:worker:\(name)", "configuration_digest", "configuration_alarm",
          "redis_apps", "redis_apps_change"
        ).array?.map { $0.string ?? "" } ?? []
      guard told.count == 4 else { throw ChaosError("the beat of \(name) cannot be read") }
      workers.insert(name)
      digests.insert(told[0])
      refusals.insert(told[1])
      tenants.insert("\(told[2]) up to \(told[3])")
    }
  }

  /// The configuration that all have and nobody refuses; nil while that is not so.
  var taken: String? {
    guard refusals == [""], digests.count == 1, let digest = digests.first, !digest.isEmpty else {
      return nil
    }
    return digest
  }

  /// The alarm of what all refuse; nil while that is not so.
  var refused: String? {
    guard refusals.count == 1, let alarm = refusals.first, !alarm.isEmpty else { return nil }
    return alarm
  }

  var sentence: String {
    "\(workers.count) workers tell the configurations \(digests.sorted()), refuse \(refusals.sorted()) "
      + "and have these apps of Redis: \(tenants.sorted())"
  }
}

extension ChaosSession {
  /// The alarms of configurations that are refused, as they stand.
  func configurationAlarms() async throws -> [String] {
    let alarms = try await insisting { store in
      try await store.alarms.current(nowMs: EpochClock.nowMs())
    }
    return alarms.map(\.field).filter { $0.hasPrefix("configuration|") }
  }
}
