internal import PushpoolConfiguration
internal import Redis
internal import Store

extension RedisExamination {
  /// Reads and opens the apps that stand in Redis.
  /// - Parameter only: the app to look at; nil for all.
  mutating func openApps(
    _ fleet: FleetStore, _ configuration: Configuration, only: String?
  ) async throws(RedisError) {
    // Key files that are no good are an error of the configuration.
    guard configuration.appsInRedis != nil, let keys = try? SealingKeys(configuration) else {
      return
    }
    let found = try await Self.allowed { () async throws(RedisError) in
      try await Self.look(at: fleet.apps, keys, only: only)
    }
    guard let found else {
      return add(.note, "does not show this user the apps that it keeps (\(fleet.apps.key))")
    }
    guard found.count <= ConfigurationLimits.redisAppsMax else { return refuse(apps: found.count) }
    apps = found
  }

  private static func look(
    at store: AppRecordStore, _ keys: SealingKeys, only: String?
  ) async throws(RedisError) -> ExaminedApps {
    var apps = ExaminedApps(count: try await store.count())
    guard apps.count <= ConfigurationLimits.redisAppsMax else { return apps }
    if let only {
      if let value = try await store.find(only) { apps.open(only, value: value, keys) }
      apps.isAll = true
      return apps
    }
    var cursor: String?
    repeat {
      let page = try await store.page(after: cursor)
      for (id, value) in page.values { apps.open(id, value: value, keys) }
      cursor = page.cursor
    } while cursor != nil && apps.all.count < OperationsLimits.examinedAppsMax
    apps.isAll = cursor == nil
    return apps
  }

  private mutating func refuse(apps count: Int) {
    add(
      .error,
      "keeps \(count) apps, and workers read none of more than \(ConfigurationLimits.redisAppsMax)",
      remedy: "remove apps that nobody uses (pushpool app remove)")
  }
}
