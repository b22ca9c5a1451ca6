package import Model
package import Redis

extension RedisEndpoint {
  /// Has connections look whether the place is the shard that is meant. In a fleet of one shard any place is.
  package mutating func expect(_ shard: ShardID, prefix: String) {
    guard !shard.isOnly else { return }
    mark = RedisMark(key: Keys(prefix: prefix).shard, value: shard.name) { found in
      ShardClaim.isOther(name: found).refusal(of: shard) ?? ""
    }
  }
}
