internal import Logging
internal import Model
internal import Providers
internal import Redis
internal import Store

extension ConfigurationKeeper {
  /// Takes what has changed of the apps of Redis.
  /// - Returns: whether lanes may start: the apps were read, or cannot be for now.
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
      } else {
        try await watch.mendRoutes(before)
      }
      watch.noteSuccess()
      note(nil, watch)
      return true
    } catch {
      switch error {
      case .redis(let error): return noteUnread(error, watch)
      case .refused(let error):
        watch.noteSuccess()
        note(
          AlarmCondition(
            field: AlarmKind.redisApps.field("limit"),
            sentence: "changes of the apps of Redis are not taken: \(error)"), watch)
        return true
      }
    }
  }

  /// - Returns: whether lanes may start without the apps.
  private func noteUnread(_ error: RedisError, _ watch: RedisAppsWatch) -> Bool {
    let reason = DocumentedUser.worker.explain(watch.loss ?? error)
    // What passes by itself is worth no alarm before it lasts.
    if error.isTemporary, watch.failingMs < watch.patienceMs {
      noteAwaited(reason)
      if watch.isNews(reason) {
        parts.log.warning("the apps of Redis cannot be read: \(reason); trying again")
      }
      return watch.hasRead
    }
    note(
      AlarmCondition(
        field: AlarmKind.redisApps.field(error.alarmCode),
        sentence: watch.hasRead
          ? "the apps of Redis cannot be read, and those that were read before go on: \(reason)"
          : "the apps of Redis cannot be read, and the worker goes on without them: \(reason)"),
      watch)
    return true
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
    let news = parts.standing.noteRedisApps(
      ConfigurationStanding.RedisAppsStanding(
        usable: redis.usable.count, leftOut: redis.leftOut.count, change: watch.change,
        troubles: [trouble].compactMap { $0 } + current.redisAppsTroubles(worker: parts.worker)))
    for trouble in news { parts.log.error("\(trouble.sentence)") }
  }
}

extension RedisError {
  /// The error in an alarm's field: as Redis calls it, or the place where it lies.
  fileprivate var alarmCode: String {
    switch self {
    case .server(let code, _): code
    case .unexpectedReply: "reply"
    case .connectionLost, .timeout, .protocolViolation, .unavailable, .tooManyPending, .unsuitable:
      "connection"
    }
  }
}
