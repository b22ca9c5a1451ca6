internal import Redis

/// How far the users of an app have been looked for that no index has. A value: `AudienceStore.indexUsers` goes on with it.
package struct IndexWalk: Sendable, Equatable {
  package private(set) var walk = KeyWalk()
  /// Users that were found.
  package private(set) var found = 0
  /// Users that were found and were not in the index.
  package private(set) var added = 0

  package init() {}

  package var isOver: Bool { walk.isOver }

  /// Takes in what a call has done.
  mutating func advance(_ reply: RedisReply) throws(RedisError) {
    if try walk.advance(reply) { found = 0 }
    found += try decodeCount(reply[KeyWalk.columns])
    added += try decodeCount(reply[KeyWalk.columns + 1])
  }
}
