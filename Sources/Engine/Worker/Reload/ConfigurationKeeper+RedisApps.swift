internal import Logging
internal import Model
internal import Providers
internal import Redis
internal import Store

extension ConfigurationKeeper {
  /// Takes what has changed of the apps of Redis.
  /// - Returns: whether they were read, or Redis refuses to show them; false while Redis is away.
  @discardableResult
  func takeRedisApps() async -> Bool {
    let before = current
    guard let keys = before.keys, let watch = redisApps else { return true }
    if parts.redisApps?.routes.takeLackOfRedisApps() == true { watch.forgetTold() }
    do throws(RedisAppsWatch.Trouble) {
      let apps = try await watch.read(
        after: before, keys: keys, client: parts.client, clock: parts.clock)
      if let apps {
        try await use(
          LoadedConfiguration(before.configuration, apps, keys: keys), instead: before, watch)
      } else if !watch.isTold {
        try await watch.tell(before)
        try await watch.tellGone(before)
      }
      note(nil, watch)
      return true
    } catch {
      switch error {
      case .redis(let error):
        guard case .server(let code, _) = error else { return false }
        note(
          AlarmCondition(
            field: AlarmKind.redisApps.field(code),
            sentence: "the apps of Redis cannot be read, and those that were read before go on: "
              + DocumentedUser.worker.explain(error)), watch)
      case .refused(let error):
        note(
          AlarmCondition(
            field: AlarmKind.redisApps.field("limit"),
            sentence: "changes of the apps of Redis are not taken: \(error)"), watch)
      }
      return true
    }
  }

  private func use(
    _ next: LoadedConfiguration, instead before: LoadedConfiguration, _ watch: RedisAppsWatch
  ) async throws(RedisAppsWatch.Trouble) {
    // Whoever is given work for an app because of what is said here has the app in a moment.
    var trouble: RedisAppsWatch.Trouble?
    do throws(RedisAppsWatch.Trouble) { try await watch.tell(next) } catch { trouble = error }
    await adopt(next)
    RedisAppsDiff(from: before.apps, to: next.apps).log(in: parts.log)
    if let trouble { throw trouble }
    try await watch.tellGone(next)
  }

  /// - Parameter trouble: why they are not taken as they are; nil when they are.
  private func note(_ trouble: AlarmCondition?, _ watch: RedisAppsWatch) {
    let redis = current.apps.redis
    let isNews = parts.standing.noteRedisApps(
      ConfigurationStanding.RedisAppsStanding(
        usable: redis.usable.count, leftOut: redis.leftOut.count, change: watch.change,
        trouble: trouble))
    if isNews, let trouble { parts.log.error("\(trouble.sentence)") }
  }
}
