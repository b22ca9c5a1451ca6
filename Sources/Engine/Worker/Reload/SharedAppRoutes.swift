internal import Providers
internal import PushpoolConfiguration
internal import Redis
internal import Store

/// The table of where apps of Redis can be sent to, which all workers share: what this process says there, and what it knows of what
/// stands there; loop-bound.
final class SharedAppRoutes {
  private let routes: RouteStore
  private let apps: AppRecordStore
  /// The places by app, as this process knows them; nil while it does not know what stands there.
  private var known: [String: String]?
  /// Whether the table has all that this process has to say.
  private(set) var isTold = false
  /// Where the next page of the table begins that is looked at; nil for the first.
  private var cursor: String?

  init(_ routes: RouteStore, of apps: AppRecordStore) {
    self.routes = routes
    self.apps = apps
  }

  /// Says where apps can be sent to, before the lanes have them.
  func tell(_ loaded: LoadedConfiguration) async throws(RedisError) {
    isTold = false
    let there: [String: String]
    if let known {
      there = known
    } else {
      there = try await routes.redisApps()
      known = there
    }
    let directory = loaded.apps.directory
    var new: [String: String] = [:]
    for id in loaded.apps.redis.usable.keys {
      let places = directory.places(of: id)
      if there[id] != places { new[id] = places }
    }
    guard !new.isEmpty else { return }
    let waitMs = UInt64(loaded.configuration.worker.unroutedSeconds) * 1_000
    try await routes.add(redisApps: new, waitMs: waitMs)
    known?.merge(new) { $1 }
  }

  /// Says that apps are gone, after the lanes have let go of them. Those stay that are left out here, or are in the file: another
  /// worker may have them. So do those that somebody has added since this worker looked, of which another worker has said it.
  func tellGone(_ loaded: LoadedConfiguration) async throws(RedisError) {
    let redis = loaded.apps.redis
    var gone = (known ?? [:]).keys.filter { !redis.contains($0) }
    if !gone.isEmpty {
      let there = try await apps.present(among: gone)
      gone.removeAll { there.contains($0) }
    }
    if !gone.isEmpty {
      try await routes.remove(redisApps: gone)
      for id in gone { known?[id] = nil }
    }
    isTold = true
  }

  /// Compares a page of the table with what this process has, and says anew what is other. A worker that was killed may have left the
  /// places of an older record there, or an app that is gone. To be called when all changes of apps were taken: what another worker
  /// has taken since is mended by the look after that.
  func mend(_ loaded: LoadedConfiguration) async throws(RedisError) {
    let page = try await routes.redisAppsPage(after: cursor)
    cursor = page.cursor
    guard known != nil else { return }
    let (redis, directory) = (loaded.apps.redis, loaded.apps.directory)
    var (isOther, hasGone) = (false, false)
    for (app, places) in page.places {
      known?[app] = places
      if redis.usable[app] != nil {
        isOther = isOther || places != directory.places(of: app)
      } else if !redis.contains(app) {
        hasGone = true
      }
    }
    if isOther { try await tell(loaded) }
    if isOther || hasGone { try await tellGone(loaded) }
  }

  /// Has all said anew.
  func forget() { (known, isTold) = (nil, false) }
}
