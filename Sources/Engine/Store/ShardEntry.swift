package import Model

/// An entry of a stream, and the shard that has the stream. Two shards can have equal entries, so what leaves a store names
/// both.
package struct ShardEntry: Sendable, Hashable, Comparable {
  package let shard: ShardID
  package let id: EntryID

  package init(shard: ShardID, id: EntryID) {
    self.shard = shard
    self.id = id
  }

  /// Reads an entry as `text` writes it. In a fleet of one shard its name may be there or not. Where there are several it
  /// must be: an equal entry of another shard would be dealt with else.
  /// - Parameters:
  ///   - text: such as `1790000000000-0` or `eu/1790000000000-0`, with the numbers as Redis writes them.
  ///   - shards: all shards of the fleet.
  /// - Throws: the rule that the text breaks, as what it must be or do.
  package init(_ text: String, of shards: [ShardID]) throws(InvalidField) {
    guard let (name, id) = Self.parts(text) else {
      throw InvalidField(
        pointer: "", message: "must be the entry of a stream, such as 1790000000000-0")
    }
    if name == nil, shards.count == 1, let shard = shards.first {
      self.init(shard: shard, id: id)
      return
    }
    let names = shards.map(\.name).joined(separator: ", ")
    guard let name else {
      throw InvalidField(
        pointer: "",
        message: "must name its shard, such as \(shards.first?.name ?? "main")/\(id.text), since "
          + "several can have such an entry: the fleet has \(names)")
    }
    guard let shard = shards.first(where: { TextRule.isSame($0.name, name) }) else {
      throw InvalidField(
        pointer: "",
        message: "must name a shard that there is, and \(name) is none: the fleet has \(names)")
    }
    self.init(shard: shard, id: id)
  }

  /// Whether a text is an entry of whatever shard, so that it can be refused before the shards are known.
  package static func isOne(_ text: String) -> Bool { parts(text) != nil }

  /// The name of the shard, where it is written, and the entry. As Redis writes it: an entry must not have two names.
  private static func parts(_ text: String) -> (shard: String?, id: EntryID)? {
    let words = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let last = words.last, let id = EntryID(String(last)), id.text == last else {
      return nil
    }
    guard words.count == 2 else { return (nil, id) }
    let name = String(words[0])
    do { try TextRule.checkShard(name) } catch { return nil }
    return (name, id)
  }

  /// The text by which everybody knows the entry, and which `init(_:of:)` reads.
  package var text: String { shard.text(of: id.text) }

  /// By the entry, and by the name of the shard where that is equal.
  package static func < (one: ShardEntry, other: ShardEntry) -> Bool {
    one.id == other.id ? one.shard.name < other.shard.name : one.id < other.id
  }

  /// Returns the last entry of a shard that does not come behind this one, so that a list of the shard goes on behind it;
  /// nil when the list begins with its first entry.
  package func last(in shard: ShardID) -> EntryID? {
    shard.name <= self.shard.name ? id : id.previous
  }
}
