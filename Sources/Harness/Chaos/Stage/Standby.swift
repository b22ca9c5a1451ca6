import LocalServices

/// The servers beside a stage's Redis: those that take over from it, and how everybody finds the one that serves; or those of
/// other shards.
enum Standby: Sendable {
  /// Nobody takes over.
  case none
  case sentinels(SentinelSet)
  /// The nodes of a cluster, in place of the stage's own Redis.
  case cluster(RedisCluster)

  /// Nobody takes over; these are other shards.
  case shards([RedisServer])

  /// In a cluster all keys must be in one slot.
  private static let clusterPrefix = "{pushpool}"

  /// Runs the body beside what the options want.
  static func with<Result>(
    _ options: StageOptions, _ redis: RedisServer, _ body: (Standby) async throws -> Result
  ) async throws -> Result {
    if let replicas = options.redis.clusterReplicas {
      var shape = RedisCluster.Options(key: clusterPrefix)
      shape.replicas = replicas
      return try await RedisCluster.with(shape) { try await body(.cluster($0)) }
    }
    if options.redis.otherShards > 0 {
      return try await withShards(options.redis, []) { try await body(.shards($0)) }
    }
    guard options.redis.sentinels > 0 else { return try await body(.none) }
    return try await SentinelSet.with(options, redis) { try await body(.sentinels($0)) }
  }

  private static func withShards<Result>(
    _ options: RedisOptions, _ servers: [RedisServer],
    _ body: ([RedisServer]) async throws -> Result
  ) async throws -> Result {
    guard servers.count < options.otherShards else { return try await body(servers) }
    return try await RedisServer.with(options.server) { server in
      try await withShards(options, servers + [server], body)
    }
  }

  /// The URL by which workers and the runner find the server; nil for that of the stage's Redis.
  var url: String? {
    switch self {
    case .none, .shards: nil
    case .sentinels(let set): set.url
    case .cluster(let cluster): cluster.url
    }
  }

  /// The beginning of all keys; nil for the usual one.
  var prefix: String? { cluster == nil ? nil : Self.clusterPrefix }

  var sentinels: SentinelSet? { if case .sentinels(let set) = self { set } else { nil } }

  var shards: [RedisServer] { if case .shards(let servers) = self { servers } else { [] } }

  /// The servers that may come to serve, and the one that does.
  var servers: [RedisServer] {
    switch self {
    case .none, .shards: []
    case .sentinels(let set): set.servers
    case .cluster(let cluster): cluster.nodes
    }
  }

  var cluster: RedisCluster? { if case .cluster(let cluster) = self { cluster } else { nil } }
}
