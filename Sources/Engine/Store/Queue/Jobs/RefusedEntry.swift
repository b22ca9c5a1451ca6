package import Model
internal import Redis

/// A producer's entry that could not even be read as a job, and is a dead letter now.
package struct RefusedEntry: Sendable, Equatable {
  package let priority: Priority
  /// The stream entry that it was.
  package let entry: String
  /// The dead letter's: `malformed_entry`, `too_large` or `crashed_workers`.
  package let reason: String

  init(_ reply: RedisReply) throws(RedisError) {
    try expectArray(reply, atLeast: 3)
    priority = try decodeWord(reply[0])
    entry = reply[1].string
    reason = reply[2].string
  }
}
