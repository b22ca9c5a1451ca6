package import Model

/// The shards that a question or an act is for.
package enum ShardScope: Sendable, Equatable {
  /// The shard in which an app lives. Others may be away.
  case app(String)
  /// One shard, as an entry names it.
  case shard(ShardID)
  /// The shard that is the fleet's home.
  case home
  /// All shards: it fails while one of them is away.
  case all
  /// All shards that are there now, one at least: for those who look, and can be told what is missing. What is done in them
  /// may be done again without one that was lost meanwhile.
  case present
}

/// A shard that cannot be used now.
package struct ShardAbsence: Sendable {
  package let shard: ShardID
  /// Says where it is, and why it cannot be used.
  package let failure: StoreFailure

  /// Says that what is told leaves the shard out, and why.
  package var sentence: String { "shard \(shard.name) is left out: \(failure.description)" }
}
