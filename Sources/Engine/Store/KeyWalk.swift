internal import Redis

/// How far a walk over the keys of the whole database is (Functions/Library/walks.lua). A value: each page goes on with it. What is
/// there throughout comes up, some of it twice.
package struct KeyWalk: Sendable, Equatable {
  /// Elements that `advance` reads of a reply.
  static let columns = 4

  /// Where it goes on; nil at the end.
  private(set) var cursor: String? = ""
  /// The process that the cursor belongs to.
  private(set) var server = ""
  /// About how many keys were looked at, and how many the database has.
  package private(set) var keysSeen = 0
  package private(set) var keys = 0
  /// How often another process answered, so that the walk began again.
  package private(set) var restarts = 0

  package init() {}

  package var isOver: Bool { cursor == nil }

  /// Takes in the first elements of the reply to a page.
  /// - Returns: whether the walk began again with it.
  mutating func advance(_ reply: RedisReply) throws(RedisError) -> Bool {
    let cursor = reply[0].string
    self.cursor = cursor.isEmpty ? nil : cursor
    server = reply[1].string
    keys = try decodeCount(reply[2])
    let beganAgain = try decodeInteger(reply[3]) == 1
    if beganAgain {
      restarts += 1
      keysSeen = 0
    }
    keysSeen = min(keysSeen + StoreLimits.walkedAtOnce, keys)
    return beganAgain
  }
}
