internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

// Work that not every worker of the fleet has the credentials for.
extension Lane {
  /// Says which routes this process has, learns which the others have, and has jobs that wait for one taken in.
  func watchRoutes() async {
    let bell = makeBell()
    while !isDraining {
      var waitMs = WorkerLimits.routesMs
      do throws(RedisError) {
        let news = try await store.routes.announce(
          settings.routes.own, waitMs: settings.unroutedMs)
        try await learn(news)
        settings.routes.hasWork = news.hasWork
        if news.isAnythingWaiting { waitMs = WorkerLimits.routesBusyMs }
        if news.hasWork {
          settings.idle.wake(.chunks)
          isRoutedDue = true
          admitSignal.raise()
        }
      } catch {
        log.debug("routes: \(error)")
        waitMs = WorkerLimits.redisPauseMs
      }
      await bell.wait(upToMs: waitMs)
    }
  }

  private func learn(_ news: RouteNews) async throws(RedisError) {
    var new: [String: RouteTable] = [:]
    for digest in settings.routes.unknown(among: news.digests) {
      new[digest] = try await store.routes.table(digest)
    }
    settings.routes.use(news, new: new)
  }

  /// Takes in jobs that waited for a worker with this one's routes. - Returns: whether there may be more.
  func admitRouted() async throws(RedisError) -> Bool {
    let entries = try await store.routes.takeJobs(
      consumer: settings.consumer, digest: settings.routes.own.digest,
      max: WorkerLimits.routedJobsMax)
    guard !entries.isEmpty else { return false }
    try await admitter.admit(entries)
    settings.idle.wake(.chunks)
    return true
  }

  /// Takes up chunks that wait for a worker with this one's routes. - Returns: whether there were any.
  func claimRouted(max: Int) async throws(RedisError) -> Bool {
    guard settings.routes.hasWork else { return false }
    let claims = try await store.routes.claim(
      consumer: settings.consumer, digest: settings.routes.own.digest, max: max)
    if claims.isEmpty { settings.routes.hasWork = false }
    try await begin(claims)
    if claims.count == max { settings.idle.wake(.chunks) }
    return !claims.isEmpty
  }

  /// Has a chunk whose app this worker does not have wait for another, unless it has expired: that any can count.
  /// - Returns: whether it waits.
  func passOn(_ claim: ChunkClaim, _ material: JobMaterial) async throws(RedisError) -> Bool {
    guard !settings.routes.own.has(claim.app), !dispatcher.isExpired(material) else { return false }
    dispatcher.logOnce(
      "\(claim.app) is not in this worker's configuration: its work is left to others")
    if let trace = material.trace {
      var line = JobTrace.line(.decided)
      line.decision = .deferred
      line.cause = .otherWorker
      line.count = claim.recipients.withUnsafeBytes {
        SegmentLines($0).reduce(0) { sum, _ in sum + 1 }
      }
      trace.record(line)
    }
    try await store.routes.passOn(
      claim, consumer: settings.consumer, waitMs: settings.unroutedMs)
    return true
  }
}
