internal import Redis

/// One step of a search among the jobs that wait.
package struct WaitingPage: Sendable {
  /// How many entries were looked at.
  package let looked: Int
  /// Behind which entry to go on; nil at the stream's end.
  package let next: String?
  /// Entries that may be the job.
  package let entries: [String]

  init(looked: Int, next: String?, entries: [String]) {
    self.looked = looked
    self.next = next
    self.entries = entries
  }

  init(_ reply: RedisReply) throws(RedisError) {
    try expectArray(reply, atLeast: 3)
    looked = try decodeCount(reply[0])
    next = try decodeInteger(reply[2]) == 1 ? reply[1].string : nil
    entries = (3..<reply.count).map { reply[$0].string }
  }
}
