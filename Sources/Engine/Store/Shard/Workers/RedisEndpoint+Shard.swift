package import Model
package import Redis

extension RedisEndpoint {
  /// Has connections look whether the place is the shard that is meant. In a fleet of one shard any place is.
  /// - Parameter onNameless: called each time a place has no name. The sentence why it is not used; nil when it will do.
  package mutating func expect(
    _ shard: ShardID, prefix: String, onNameless: @escaping @Sendable () -> String? = { nil }
  ) {
    guard !shard.isOnly else { return }
    mark = RedisMark(
      key: Keys(prefix: prefix).shard, value: shard.name,
      refusal: { found in ShardClaim.isOther(name: found).refusal(of: shard) ?? "" },
      onMissing: onNameless)
  }
}
