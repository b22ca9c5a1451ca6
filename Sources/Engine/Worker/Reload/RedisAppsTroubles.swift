internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Store

extension LoadedConfiguration {
  /// The alarms about apps of Redis that were read.
  /// - Parameter worker: the process, as its alarms name it.
  func redisAppsTroubles(worker: String) -> [AlarmCondition] {
    [missed?.alarmCondition, apps.noPlaceAlarm, apps.changesAlarm(worker: worker)].compactMap { $0 }
  }
}

/// The apps of Redis that none of the keys at hand has sealed. They were opened with a key that was taken away since.
struct MissedApps: Sendable, Equatable {
  let count: Int
  /// The first of them, by name.
  let first: String
  /// The key that has sealed that one.
  let key: String

  /// Nil when there are none.
  init?(of apps: RedisApps, by keys: SealingKeys) {
    let held = Set(keys.all.map(\.id))
    var first: (id: String, key: String)?
    var count = 0
    for (id, ids) in apps.sealedBy {
      guard let key = ids.first(where: { !held.contains($0) }) else { continue }
      count += 1
      if first.map({ id < $0.id }) ?? true { first = (id, key) }
    }
    guard let first else { return nil }
    (self.count, self.first, key) = (count, first.id, first.key)
  }

  var alarmCondition: AlarmCondition {
    let others = count > 1 ? " (and \(count - 1) more)" : ""
    return AlarmCondition(
      field: AlarmKind.redisApps.field("key"),
      sentence: "\(first)\(others) is sealed with the key \(key), which no file of "
        + "\(AppsInRedisConfiguration.keyFilesField) holds any more: a worker that starts leaves it out; name the file of "
        + "that key again, behind the newest, and run pushpool app reseal")
  }
}

extension ConfiguredApps {
  /// The alarm while apps of Redis find no place.
  fileprivate var noPlaceAlarm: AlarmCondition? {
    let ids = redis.placesNeeded.keys.sorted()
    guard !ids.isEmpty else { return nil }
    let (subject, verb) = ids.count == 1 ? ("an app", "finds") : ("\(ids.count) apps", "find")
    return AlarmCondition(
      field: AlarmKind.redisApps.field("places"),
      sentence:
        "\(subject) of Redis \(verb) no place (\(ConfigurationDiff.listed(ids))): all apps of a worker have at most "
        + "\(ProviderLimits.entriesMax) networks and environments between them; remove apps that nobody uses, or have other "
        + "workers send for a part of the configuration file's")
  }

  /// The alarm while the process can follow not many more changes.
  fileprivate func changesAlarm(worker: String) -> AlarmCondition? {
    guard directory.numbersEnd > ProviderLimits.entryNumbersTold else { return nil }
    return AlarmCondition(
      field: AlarmKind.redisApps.field("changes", worker),
      sentence:
        "worker \(worker) has counted over \(ProviderLimits.entryNumbersTold) networks and environments since it began, each again "
        + "whenever its key or its account changes, and can count \(ProviderLimits.entryNumbersMax): restart the worker before "
        + "that, or it takes no change of an app any more")
  }
}
