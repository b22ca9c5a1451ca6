package import Model
package import Redis

/// The place of a shard in a fleet of several, as the shard knows it: which one it is, and where the apps live that live elsewhere.
/// Workers keep it up. In a fleet of one nothing of it is read or written.
package struct PlacementStore {
  let functions: StoreFunctions

  /// Has the place be this shard's from now on, unless it is another's.
  /// - Returns: the name of the shard that it is.
  package func claim(for shard: ShardID) async throws(RedisError) -> String {
    let command = RedisCommand("SET", functions.keys.shard, shard.name, "NX", "GET")
    let former = try await functions.connection.call(command) { $0.string }
    return former.isEmpty ? shard.name : former
  }

  /// Returns the name of the shard that the place is; nil while no worker of a fleet of several has claimed it.
  package func name() async throws(RedisError) -> String? {
    let name = try await functions.connection.call(
      RedisCommand("GET", functions.keys.shard)
    ) { $0.string }
    return name.isEmpty ? nil : name
  }

  /// Says where apps live, to whoever registers devices here or adds jobs. Apps that are named in neither way stay as they
  /// were: another configuration may have them.
  /// - Parameters:
  ///   - elsewhere: the apps that live in other shards, and the names of these.
  ///   - here: the apps that live in this one.
  package func keep(
    elsewhere: [String: String], here: [String]
  ) async throws(RedisError) {
    let key = functions.keys.elsewhere
    let known = Dictionary(
      try await functions.connection.call(RedisCommand("HGETALL", key)).pairs,
      uniquingKeysWith: { $1 })
    var set = RedisCommand("HSET", key)
    var news = 0
    for (app, shard) in elsewhere where known[app] != shard {
      set.append(app)
      set.append(shard)
      news += 1
    }
    if news > 0 { _ = try await functions.connection.call(set) }
    let returned = here.filter { known[$0] != nil }
    guard !returned.isEmpty else { return }
    var delete = RedisCommand("HDEL", key)
    for app in returned { delete.append(app) }
    _ = try await functions.connection.call(delete)
  }

  /// Notes the shards that the fleet has, and returns the names of those that it had before and has no more. For the home.
  package func missing(
    in shards: [String], nowMs: Int64
  ) async throws(RedisError) -> [String] {
    let key = functions.keys.shards
    let known = try await functions.connection.call(RedisCommand("HGETALL", key)).pairs.map(\.0)
    let news = shards.filter { !known.contains($0) }
    if !news.isEmpty {
      var command = RedisCommand("HSET", key)
      for name in news {
        command.append(name)
        command.append(String(nowMs))
      }
      _ = try await functions.connection.call(command)
    }
    return known.filter { !shards.contains($0) }.sorted()
  }
}
