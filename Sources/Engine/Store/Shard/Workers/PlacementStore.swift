package import Model
package import Redis

/// The place of a shard in a fleet of several, as the shard knows it: which one it is, and where the apps live that live elsewhere.
/// Workers keep it up. In a fleet of one nothing of it is read or written.
package struct PlacementStore {
  let functions: StoreFunctions

  /// Has the place be this shard's from now on, unless it is another's. A place that has its name is only read, which a full
  /// Redis answers, too.
  /// - Parameter others: apps that live in other shards. A place without a name that has users of one of them is theirs.
  package func claim(
    for shard: ShardID, unlessOf others: [String] = []
  ) async throws(RedisError) -> ShardClaim {
    if let claim = try await standing(for: shard, unlessOf: others) { return claim }
    let set = RedisCommand("SET", functions.keys.shard, shard.name, "NX")
    let isSet = try await functions.connection.call(set) { !$0.isNull }
    // Another was faster.
    return isSet ? .isOurs : .of(try await name() ?? shard.name, shard)
  }

  /// Returns whose the place is, as `claim` would, without writing; nil when it is nobody's.
  package func standing(
    for shard: ShardID, unlessOf others: [String]
  ) async throws(RedisError) -> ShardClaim? {
    if let name = try await name() { return .of(name, shard) }
    return try await firstWithUsers(among: others).map { .has(app: $0) }
  }

  /// The first of the apps that has users here.
  private func firstWithUsers(among apps: [String]) async throws(RedisError) -> String? {
    for first in stride(from: 0, to: apps.count, by: StoreLimits.routesWrittenAtOnce) {
      let some = apps[first..<min(first + StoreLimits.routesWrittenAtOnce, apps.count)]
      let answers = await functions.connection.callAll(
        some.map { RedisCommand("EXISTS", functions.keys.index(.all, app: $0)) }
      ) { $0.integer == 1 }
      for (app, answer) in zip(some, answers) where try answer.get() { return app }
    }
    return nil
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
  /// - Returns: the apps of which something else was said.
  @discardableResult
  package func keep(
    elsewhere: [String: String], here: [String]
  ) async throws(RedisError) -> [String] {
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
    let changed = elsewhere.filter { app, shard in known[app].map { $0 != shard } ?? false }.keys
    let returned = here.filter { known[$0] != nil }
    guard !returned.isEmpty else { return changed.sorted() }
    var delete = RedisCommand("HDEL", key)
    for app in returned { delete.append(app) }
    _ = try await functions.connection.call(delete)
    return (changed + returned).sorted()
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

/// The answer of a place that a shard of a fleet of several is to be.
package enum ShardClaim: Sendable, Equatable {
  case isOurs
  /// The shard of this name has it.
  case isOther(name: String)
  /// No shard has it, and an app has users there that lives in another one.
  case has(app: String)

  static func of(_ name: String, _ shard: ShardID) -> ShardClaim {
    TextRule.isSame(name, shard.name) ? .isOurs : .isOther(name: name)
  }

  /// The sentence why a shard is not to be used; nil when it is.
  package func refusal(of shard: ShardID) -> String? {
    let place = "the Redis of the shard \(shard.name) and its prefix"
    switch self {
    case .isOurs: return nil
    case .isOther(let name):
      return
        "\(place) are the shard \(FieldPointer.printable(name)) already: nothing is sent from there, nor "
        + "written; correct redis.shards"
    case .has(let app):
      return
        "\(place) have no name yet, and users of \(FieldPointer.printable(app)), which lives in another shard: "
        + "nothing is sent from there; correct redis.shards, or if the place is right, SET PREFIX:shard "
        + "\(shard.name) there"
    }
  }
}
