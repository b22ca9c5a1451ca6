package import Redis

/// Bindings that are half there, since something has deleted keys (Functions/Installations/mending.lua).
extension InstallationStore {
  /// Compares some more of an app's bindings, both ways, and mends them. May be stopped at any time and begun again.
  package func mend(app: String, _ walk: BindingWalk) async throws(RedisError) -> BindingWalk {
    guard let cursor = walk.walk.cursor else { return walk }
    let command = functions.call("mend_bindings", app, cursor, walk.walk.server)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: KeyWalk.columns + 3)
      var next = walk
      try next.advance(reply)
      return next
    }
  }

  /// Goes on with the fleet's own walk over the bindings of all apps.
  /// - Returns: how many bindings were mended, and whether the walk rests until tomorrow.
  package func mendNext() async throws(RedisError) -> (mended: Int, rests: Bool) {
    try await functions.run(functions.call("mend_next")) { reply throws(RedisError) in
      try expectArray(reply, exactly: 2)
      return (try decodeCount(reply[0]), try decodeInteger(reply[1]) == 1)
    }
  }
}

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
