package import Model

/// The risks of Redis that the operator takes knowingly, of each shard.
package struct AcceptedRisks: Sendable, Equatable, ExpressibleByArrayLiteral {
  private let ofShards: [ShardID: Set<RedisRisk>]
  private let ofOthers: Set<RedisRisk>

  package init(_ shards: ShardList) {
    ofShards = Dictionary(
      shards.all.map { ($0.id, $0.redis.acceptedRisks) }, uniquingKeysWith: { one, _ in one })
    ofOthers = []
  }

  /// The same risks of every shard.
  package init(arrayLiteral risks: RedisRisk...) {
    ofShards = [:]
    ofOthers = Set(risks)
  }

  package subscript(shard: ShardID) -> Set<RedisRisk> { ofShards[shard] ?? ofOthers }
}
