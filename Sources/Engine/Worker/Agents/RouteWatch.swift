internal import Logging
internal import Model
internal import Redis
internal import Store

/// Says which routes this process has, learns which the others have, and tells when work waits for one of its own.
final class RouteWatch: Agent {
  private let store: RouteStore
  private let routes: FleetRoutes
  private let snapshot: LaneSnapshot
  private let log: Logger
  private let onWork: () -> Void

  init(
    store: RouteStore, routes: FleetRoutes, snapshot: LaneSnapshot, log: Logger,
    onWork: @escaping () -> Void
  ) {
    self.store = store
    self.routes = routes
    self.snapshot = snapshot
    self.log = log
    self.onWork = onWork
  }

  func turn() async -> UInt64 {
    let (own, rules) = (snapshot.routes, snapshot.rules)
    do throws(RedisError) {
      let news = try await store.announce(
        own, waitMs: rules.unroutedMs, retentionSeconds: rules.retention.usual.manySeconds)
      try await learn(news, besides: own)
      try await lookUp(routes.takeAsked())
      routes.noteWork(news.hasWork)
      if news.hasWork { onWork() }
      if news.isAnythingWaiting && !news.hasWork { return WorkerLimits.routesBusyMs }
      return news.digests.allSatisfy { $0 == own.digest }
        ? WorkerLimits.routesMs : WorkerLimits.routesUnequalMs
    } catch {
      log.debug("routes: \(error)")
      return WorkerLimits.redisPauseMs
    }
  }

  private func lookUp(_ asked: [String]) async throws(RedisError) {
    for first in stride(from: 0, to: asked.count, by: WorkerLimits.sharedRoutesAtOnce) {
      let some = Array(asked[first..<min(first + WorkerLimits.sharedRoutesAtOnce, asked.count)])
      routes.note(shared: some, places: try await store.redisApps(some))
    }
  }

  private func learn(_ news: RouteNews, besides own: RouteTable) async throws(RedisError) {
    var new: [String: RouteTable] = [:]
    for digest in routes.unknown(among: news.digests, besides: own) {
      new[digest] = try await store.table(digest)
    }
    routes.use(news, new: new)
  }
}
