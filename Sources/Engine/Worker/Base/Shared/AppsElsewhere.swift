internal import Model
internal import Providers

/// The apps that live in another shard than the lanes that look them up, as far as their process knows.
struct AppsElsewhere: Sendable {
  /// The apps of the configuration file among them, and the shards of these. The shard is told of them; apps of Redis come and
  /// go one by one.
  let named: [String: ShardID]
  /// The apps of Redis, and the home, where all of them live; nil for the home itself.
  private let atHome: (home: ShardID, apps: RedisApps)?

  init(named: [String: ShardID] = [:], atHome: (home: ShardID, apps: RedisApps)? = nil) {
    self.named = named
    self.atHome = atHome
  }

  /// The shard in which an app lives; nil for one that lives here, or that nobody knows.
  subscript(app: String) -> ShardID? {
    if let shard = named[app] { return shard }
    guard let atHome, atHome.apps.has(app) else { return nil }
    return atHome.home
  }
}
