internal import Logging
internal import Redis
internal import Store

/// Says which routes this process has, learns which the others have, and tells when work waits for one of its own.
final class RouteWatch: Agent {
  private let store: RouteStore
  private let routes: FleetRoutes
  /// How long work waits for a worker that can send it.
  private let unroutedMs: UInt64
  /// How long the record of a job is kept that nobody could take in the end.
  private let retentionSeconds: Int
  private let log: Logger
  private let onWork: () -> Void

  init(
    store: RouteStore, routes: FleetRoutes, unroutedMs: UInt64, retentionSeconds: Int, log: Logger,
    onWork: @escaping () -> Void
  ) {
    self.store = store
    self.routes = routes
    self.unroutedMs = unroutedMs
    self.retentionSeconds = retentionSeconds
    self.log = log
    self.onWork = onWork
  }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      let news = try await store.announce(
        routes.own, waitMs: unroutedMs, retentionSeconds: retentionSeconds)
      try await learn(news)
      routes.noteWork(news.hasWork)
      if news.hasWork { onWork() }
      if news.isAnythingWaiting && !news.hasWork { return WorkerLimits.routesBusyMs }
      return news.digests.allSatisfy { $0 == routes.own.digest }
        ? WorkerLimits.routesMs : WorkerLimits.routesUnequalMs
    } catch {
      log.debug("routes: \(error)")
      return WorkerLimits.redisPauseMs
    }
  }

  private func learn(_ news: RouteNews) async throws(RedisError) {
    var new: [String: RouteTable] = [:]
    for digest in routes.unknown(among: news.digests) {
      new[digest] = try await store.table(digest)
    }
    routes.use(news, new: new)
  }
}
