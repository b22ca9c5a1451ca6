import LocalServices

/// The servers that take over from a stage's Redis, and how everybody finds the one that serves.
enum Standby: Sendable {
  /// Nobody takes over.
  case none
  case sentinels(SentinelSet)
  /// The nodes of a cluster, in place of the stage's own Redis.
  case cluster(RedisCluster)

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
    guard options.redis.sentinels > 0 else { return try await body(.none) }
    return try await SentinelSet.with(options, redis) { try await body(.sentinels($0)) }
  }

  /// The URL by which workers and the runner find the server; nil for that of the stage's Redis.
  var url: String? {
    switch self {
    case .none: nil
    case .sentinels(let set): set.url
    case .cluster(let cluster): cluster.url
    }
  }

  /// The beginning of all keys; nil for the usual one.
  var prefix: String? { cluster == nil ? nil : Self.clusterPrefix }

  var sentinels: SentinelSet? { if case .sentinels(let set) = self { set } else { nil } }

  /// The servers that may come to serve, and the one that does.
  var servers: [RedisServer] {
    switch self {
    case .none: []
    case .sentinels(let set): set.servers
    case .cluster(let cluster): cluster.nodes
    }
  }

  var cluster: RedisCluster? { if case .cluster(let cluster) = self { cluster } else { nil } }
}
