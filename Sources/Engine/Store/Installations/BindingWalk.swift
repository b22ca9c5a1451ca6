internal import Redis

/// How far the bindings of an app have been compared, users' lines with tokens' records, and what was mended. A value:
/// `InstallationStore.mend` goes on with it.
package struct BindingWalk: Sendable, Equatable {
  package private(set) var walk = KeyWalk()
  /// Records that were written from the lines of users.
  package private(set) var records = 0
  /// Lines that were written from records.
  package private(set) var lines = 0
  /// Lines that were taken out: their tokens are another user's, or were uninstalled.
  package private(set) var dropped = 0

  package init() {}

  package var isOver: Bool { walk.isOver }
  package var mended: Int { records + lines + dropped }

  /// Takes in what a call has done. What was mended stays so when a walk begins again.
  mutating func advance(_ reply: RedisReply) throws(RedisError) {
    _ = try walk.advance(reply)
    records += try decodeCount(reply[KeyWalk.columns])
    lines += try decodeCount(reply[KeyWalk.columns + 1])
    dropped += try decodeCount(reply[KeyWalk.columns + 2])
  }
}
