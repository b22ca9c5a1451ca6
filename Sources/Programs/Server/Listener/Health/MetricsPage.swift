internal import Model
internal import Operations
internal import Redis
internal import Store

/// The metrics of the fleet and of this server as text. However many scrapers ask, Redis is read once a second at most.
actor MetricsPage {
  private let session: StoreSession
  private let state: ServingState
  private var kept: (families: [MetricFamily]?, at: ContinuousClock.Instant)?
  private var reading: Task<[MetricFamily]?, Never>?

  init(_ session: StoreSession, _ state: ServingState) {
    self.session = session
    self.state = state
  }

  /// While Redis is away, only the server's own are told.
  func text(_ format: MetricsFormat) async -> String {
    let fleet = await families()
    let own = state.figures.families(
      bodyBytes: state.bodies.bytes, redisIsConnected: fleet != nil)
    return format.text(fleet ?? [], and: own)
  }

  private func families() async -> [MetricFamily]? {
    if let kept, kept.at.duration(to: .now) < .milliseconds(ServerLimits.metricsKeptMs) {
      return kept.families
    }
    if let reading { return await reading.value }
    let session = session
    let task = Task { await Self.read(session) }
    reading = task
    let families = await task.value
    reading = nil
    kept = (families, .now)
    return families
  }

  private static func read(_ session: StoreSession) async -> [MetricFamily]? {
    let shards = session.placement.shards.count
    let metrics = try? await session.ask(in: .present) { stores throws(RedisError) in
      try await FleetMetrics.read(stores, of: shards)
    }
    return metrics?.families
  }
}
