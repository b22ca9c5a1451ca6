/// The shard in which each app of a fleet lives. Placement is a table that the configuration has, and no function of an app's
/// name: so a shard that is added moves no app.
package struct Placement: Sendable, Equatable {
  /// All shards of the fleet, each once; never empty.
  package let shards: [ShardID]
  /// The shard with what the fleet has once. Apps live there unless they are placed elsewhere.
  package let home: ShardID
  private let elsewhere: [String: ShardID]

  /// The placement in a fleet of one shard.
  package static let single = Placement(shards: [.only], home: .only)

  /// - Parameters:
  ///   - shards: all shards of the fleet, the home among them.
  ///   - apps: the names of the shards that apps are placed in. Names of shards that there are not place nothing.
  package init(shards: [ShardID], home: ShardID, apps: [String: String] = [:]) {
    precondition(shards.contains(home), "the home is a shard of the fleet")
    self.shards = shards
    self.home = home
    elsewhere = apps.compactMapValues { name in
      shards.first { $0 != home && TextRule.isSame($0.name, name) }
    }
  }

  /// The shard of an app: the home for one that is not placed, as for one that nobody knows.
  package subscript(app: String) -> ShardID {
    // Most fleets have one shard, and no table to look into.
    elsewhere.isEmpty ? home : elsewhere[app] ?? home
  }

  /// Returns elements by the shard of their apps, in their order. A shard without any is left out.
  package func parts<Element>(
    of elements: [Element], by app: (Element) -> String
  ) -> [(shard: ShardID, elements: [Element])] {
    guard !elements.isEmpty else { return [] }
    guard !self.elsewhere.isEmpty else { return [(home, elements)] }
    let groups = Dictionary(grouping: elements) { self[app($0)] }
    return shards.compactMap { shard in groups[shard].map { (shard, $0) } }
  }

  /// Whether an app lives in a shard.
  package func has(_ app: String, in shard: ShardID) -> Bool { self[app] == shard }
}
