/// How far the users of an app have been looked for that no index has. A value: `AudienceStore.indexUsers` goes on with it.
package struct IndexWalk: Sendable, Equatable {
  /// Where it goes on; nil when all have been found.
  private(set) var cursor: String? = ""
  /// The process that the cursor belongs to.
  private(set) var server = ""
  /// Users that were found.
  package private(set) var found = 0
  /// Those of them that were not in the index.
  package private(set) var added = 0
  /// About how many keys were looked at, and how many the database has.
  package private(set) var keysSeen = 0
  package private(set) var keys = 0
  /// How often another process answered, so that the walk began again.
  package private(set) var restarts = 0

  package init() {}

  package var isOver: Bool { cursor == nil }

  /// Takes in what a call has done.
  mutating func advance(
    cursor: String, server: String, found: Int, added: Int, keys: Int, beganAgain: Bool
  ) {
    if beganAgain {
      restarts += 1
      keysSeen = 0
      self.found = 0
    }
    self.cursor = cursor.isEmpty ? nil : cursor
    self.server = server
    self.found += found
    self.added += added
    self.keys = keys
    keysSeen = min(keysSeen + StoreLimits.indexedAtOnce, keys)
  }
}
