internal import Model
internal import PushpoolConfiguration
internal import Redis
internal import Store

extension RedisExamination {
  /// Opens the apps that stand in Redis, as a worker does.
  mutating func openApps(
    _ fleet: FleetStore, _ configuration: Configuration
  ) async throws(RedisError) {
    // Key files that are no good are an error of the configuration.
    guard configuration.appsInRedis != nil, let keys = try? SealingKeys(configuration) else {
      return
    }
    let count = try await Self.allowed { () async throws(RedisError) in
      try await fleet.apps.count()
    }
    if let count, count > ConfigurationLimits.redisAppsMax { return refuse(apps: count) }
    var (seen, faults): (Set<String>, [String]) = ([], [])
    var cursor: String?
    repeat {
      let page = try await Self.allowed { [cursor] () async throws(RedisError) in
        try await fleet.apps.page(after: cursor)
      }
      guard let page else {
        return add(
          .note, "does not show this user the apps that it keeps (\(fleet.apps.key))")
      }
      for (id, value) in page.values where seen.insert(id).inserted {
        do throws(AppRecordFault) { _ = try AppRecord(id: id, value: value).open(keys) } catch {
          faults.append("\(FieldPointer.printable(id)): \(error)")
        }
      }
      cursor = page.cursor
    } while cursor != nil && seen.count < OperationsLimits.examinedAppsMax
    judge(apps: seen.count, faults: faults, isAll: cursor == nil)
  }

  private mutating func refuse(apps count: Int) {
    add(
      .error,
      "keeps \(count) apps, and workers read none of more than \(ConfigurationLimits.redisAppsMax)",
      remedy: "remove apps that nobody uses (pushpool app remove)")
  }

  /// - Parameters:
  ///   - count: how many apps were opened.
  ///   - faults: a sentence for each that could not be.
  ///   - isAll: whether there are no others.
  mutating func judge(apps count: Int, faults: [String], isAll: Bool) {
    if let first = faults.first {
      let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
      add(
        .error, "keeps an app that cannot be opened, \(first)\(more)",
        remedy:
          "name the file of the key that has sealed it, or set the app anew (pushpool app set)")
    } else {
      add(.good, "keeps apps that the key files open: \(count)")
    }
    guard !isAll else { return }
    add(.note, "keeps more apps: the doctor opens some \(OperationsLimits.examinedAppsMax)")
  }
}
