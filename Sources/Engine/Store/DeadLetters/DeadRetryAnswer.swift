internal import Redis

/// The result of retrying a dead letter.
package enum DeadRetryAnswer: Sendable, Equatable {
  /// A refused job is in its stream again, by this entry; nil for the recipients of a chunk.
  case retried(entry: String?)
  /// Retried or dropped before.
  case absent
  /// The letter cannot be retried: its job's record has expired, or the original is not kept.
  case gone
  /// Its job was cancelled and still ends: retry it when nothing is pending any more.
  case ending

  init(_ reply: RedisReply) throws(RedisError) {
    guard reply.kind != .array else {
      try expectArray(reply, atLeast: 1)
      self = .retried(entry: reply.count > 1 ? try decodeEntry(reply[1]) : nil)
      return
    }
    switch reply.string {
    case "ABSENT": self = .absent
    case "GONE": self = .gone
    case "ENDING": self = .ending
    default: throw .unexpectedReply("dead_retry")
    }
  }
}
