internal import Operations
internal import Redis
internal import Store

/// The rates of the apps in Redis, for people: those of the first apps by name, which are read again when an app has changed. One for
/// the process.
actor RedisAppRates {
  /// The rates that are told.
  struct Told: Sendable {
    var apps: [AppRates] = []
    /// How many apps there are of whose rates nothing is told.
    var others = 0
  }

  /// The apps as Redis has them.
  private struct Found: Sendable {
    let change: String?
    var values: [(id: String, value: [UInt8])] = []
    var others = 0
  }

  private var known: (change: String?, told: Told)?

  /// - Parameter named: the apps of the configuration file, which go before those of Redis.
  func read(
    in session: StoreSession, besides named: Set<String>
  ) async throws(StoreFailure) -> Told {
    let lastChange = known?.change
    let isKnown = known != nil
    let found: Found? = try await session.atHome { fleet throws(RedisError) in
      do throws(RedisError) {
        // First: what changes from here on is read with the next look.
        let change = try await fleet.apps.lastChange()
        guard !isKnown || change != lastChange else { return nil }
        return try await Self.find(fleet.apps, change, besides: named)
      } catch {
        // What Redis does not show is told by the workers' alarm.
        guard !error.isTemporary else { throw error }
        return Found(change: nil)
      }
    }
    // Records are read beside the loop of Redis: they may be large.
    if let found {
      let records = found.values.compactMap { try? AppRecord(id: $0.id, value: $0.value) }
      known = (
        found.change,
        Told(
          apps: records.map { AppRates($0) },
          others: found.others + found.values.count - records.count)
      )
    }
    return known?.told ?? Told()
  }

  private static func find(
    _ apps: AppRecordStore, _ change: String?, besides named: Set<String>
  ) async throws(RedisError) -> Found {
    var found = Found(change: change)
    let ids = try await apps.ids().filter { !named.contains($0) }.sorted()
    let told = Array(ids.prefix(ServerLimits.redisAppsToldMax))
    found.others = ids.count - told.count
    for first in stride(from: 0, to: told.count, by: StoreLimits.appsPage) {
      let some = Array(told[first..<min(first + StoreLimits.appsPage, told.count)])
      for (id, value) in zip(some, try await apps.find(some)) {
        if let value { found.values.append((id, value)) }
      }
    }
    return found
  }
}
