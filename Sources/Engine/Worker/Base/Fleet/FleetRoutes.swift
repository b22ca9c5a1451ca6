internal import Model
internal import Store
internal import Synchronization

/// Where the other workers of the fleet can send to, as far as this process knows; shared by its lanes.
final class FleetRoutes: Sendable {
  private struct State {
    /// The configurations of the others, by digest; nil until they were asked for.
    var others: [String: RouteTable]?
    var hasWork = false
    /// Whether anything waits for a worker that has a route for it.
    var isAnythingWaiting = false
    /// Whether the fleet has only just begun, and others may still say which routes they have.
    var isGathering = false
    /// Whether Redis does not know of all apps of Redis that this process has.
    var lacksRedisApps = false
    /// Whether there are workers with apps of Redis.
    var isSharing = false
    /// Apps of Redis that were asked about: their places, and when that was looked up.
    var shared: [String: (places: String?, atMs: Int64)] = [:]
    /// When those were forgotten last that were looked up too long ago.
    var forgottenAtMs: Int64 = 0
    /// Apps that are to be looked up, since somebody has asked about them.
    var asked: Set<String> = []
    /// The app that was asked about last, and what it was taken for.
    var suggested: (app: String, name: String?)?
  }

  private let state = Mutex(State())
  private let nowMs: @Sendable () -> Int64

  /// - Parameter nowMs: a clock that is never set.
  init(nowMs: @escaping @Sendable () -> Int64 = { FleetClock.uptimeMs }) { self.nowMs = nowMs }

  /// Whether another worker can send there, lately could, or may when the app's files are mended; nil when that is not known
  /// yet.
  func othersHave(_ app: String, _ network: Network, _ environment: PushEnvironment) -> Bool? {
    state.withLock { state in
      guard let others = state.others else { return nil }
      let isTheirs = others.values.contains {
        $0.has(app, network, environment) || $0.leavesOut(app)
      }
      if isTheirs { return true }
      if state.isSharing {
        guard let theirs = shares(app, network, environment, &state) else { return nil }
        if theirs { return true }
      }
      return state.isGathering ? nil : false
    }
  }

  /// Whether a worker has the app of Redis, with such a place; nil until that is looked up. This worker may have another record of
  /// the app, or none, since it looks at a time of its own.
  private func shares(
    _ app: String, _ network: Network, _ environment: PushEnvironment, _ state: inout State
  ) -> Bool? {
    if let known = state.shared[app], isFresh(known.atMs) {
      // Soon enough that it is always known what is asked about all the time.
      if !isFresh(known.atMs - WorkerLimits.sharedRoutesMs / 2) { ask(app, &state) }
      return known.places.map { RouteTable.has(network, environment, in: $0) } ?? false
    }
    ask(app, &state)
    return nil
  }

  private func ask(_ app: String, _ state: inout State) {
    if state.asked.count < WorkerLimits.sharedRoutesAskedMax { state.asked.insert(app) }
  }

  private func isFresh(_ atMs: Int64) -> Bool { nowMs() - atMs < WorkerLimits.sharedRoutesMs }

  /// Whether `othersHave` knows of an app only when it was looked up, and it was not lately.
  func mustLook(at app: String) -> Bool {
    state.withLock { $0.isSharing && !($0.shared[app].map { isFresh($0.atMs) } ?? false) }
  }

  /// The apps of Redis that somebody has asked about; who takes them is to look them up.
  func takeAsked() -> [String] {
    state.withLock { state in
      defer { state.asked = [] }
      return Array(state.asked)
    }
  }

  /// - Parameter places: of each app, as Redis has them; nil where there is none.
  func note(shared apps: [String], places: [String?]) {
    let nowMs = nowMs()
    state.withLock { state in
      // Not with each note: there may be one for each of many jobs.
      if !isFresh(state.forgottenAtMs) {
        state.shared = state.shared.filter { isFresh($0.value.atMs) }
        state.forgottenAtMs = nowMs
      }
      for (app, places) in zip(apps, places) { state.shared[app] = (places, nowMs) }
    }
  }

  /// The app that was meant, by its nearest name in the fleet.
  /// - Parameter own: the routes of this process.
  func suggestion(for app: String, besides own: RouteTable) -> String? {
    let (others, suggested) = state.withLock { ($0.others ?? [:], $0.suggested) }
    // Many jobs of one app may come together.
    if let suggested, suggested.app == app { return suggested.name }
    // With thousands of names each question would hold up the lane, and most names are near to another.
    var known: Set<String> = []
    for table in [own] + others.values {
      guard table.count <= WorkerLimits.suggestedAmongMax else { return nil }
      known.formUnion(table.apps)
      guard known.count <= WorkerLimits.suggestedAmongMax else { return nil }
    }
    let name = NearestName.suggestion(for: app, among: known.sorted())
    state.withLock { $0.suggested = (app, name) }
    return name
  }

  /// The digests that are not known here.
  /// - Parameter own: the routes of this process.
  func unknown(among digests: [String], besides own: RouteTable) -> [String] {
    let known = state.withLock { $0.others ?? [:] }
    return digests.filter { $0 != own.digest && known[$0] == nil }
  }

  /// Takes over what the fleet has now.
  /// - Parameter new: the configurations that were unknown.
  func use(_ news: RouteNews, new: [String: RouteTable]) {
    state.withLock { state in
      state.isGathering = news.isGathering
      state.isAnythingWaiting = news.isAnythingWaiting
      state.suggested = nil
      if !news.hasRedisApps { state.lacksRedisApps = true }
      state.isSharing = news.isSharing
      let all = (state.others ?? [:]).merging(new) { $1 }
      state.others = all.filter { news.digests.contains($0.key) }
    }
  }

  /// Whether anything waits in the shard for a worker that has a route for it, as of a second ago.
  var isAnythingWaiting: Bool { state.withLock { $0.isAnythingWaiting } }

  /// Whether something waits for a worker that can send where this one can.
  var hasWork: Bool { state.withLock { $0.hasWork } }

  /// Notes that something waits for such a worker, or that nothing does.
  func noteWork(_ hasWork: Bool) { state.withLock { $0.hasWork = hasWork } }

  /// Whether Redis has lost the routes of apps of Redis since somebody asked; who asks is to say them anew.
  func takeLackOfRedisApps() -> Bool {
    state.withLock { state in
      defer { state.lacksRedisApps = false }
      return state.lacksRedisApps
    }
  }
}
