/// The name of a shard: of a place of Redis and a prefix, with the jobs and installations of whole apps. By its name alone it is
/// known again, also once it has others beside it.
package struct ShardID: Sendable, Hashable {
  /// 1 to `Limits.shardNameBytesMax` ASCII letters, digits, `_` or `-`.
  package let name: String
  /// Whether the fleet has no other shard. Then nobody has to be told which one it is.
  package let isOnly: Bool

  /// The shard of a fleet that has one.
  package static let only = ShardID(name: "main", isOnly: true)

  private init(name: String, isOnly: Bool) {
    self.name = name
    self.isOnly = isOnly
  }

  /// A shard beside others, unless it is said to be the only one.
  /// - Throws: the rule that the name breaks.
  package init(_ name: String, isOnly: Bool = false) throws(InvalidField) {
    try TextRule.checkShard(name)
    self.init(name: name, isOnly: isOnly)
  }

  package static func == (one: ShardID, other: ShardID) -> Bool {
    TextRule.isSame(one.name, other.name)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Returns the text by which everybody knows an entry of a stream of the shard: with the shard's name in front of it where
  /// there are others, which can have an equal entry.
  /// - Parameter entry: empty for none, which has an empty text.
  package func text(of entry: String) -> String {
    isOnly || entry.isEmpty ? entry : "\(name)/\(entry)"
  }
}
