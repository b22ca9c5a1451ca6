package import Model
internal import Redis

/// A job as a producer added it, leased to a consumer.
package struct JobEntry: Sendable, Equatable {
  package let priority: Priority
  /// The stream entry; with the priority it names the lease.
  package let entry: String
  /// The JSON text, unchecked.
  package let text: [UInt8]
  /// 1 when nobody had it before.
  package let deliveries: Int

  /// Names one admission of a job. Entry ids of two streams can be equal; the priority's initial tells them
  /// apart.
  package var source: String { "\(priority.rawValue.prefix(1))\(entry)" }

  init(_ reply: RedisReply) throws(RedisError) {
    try expectArray(reply, atLeast: 4)
    priority = try decodeWord(reply[0])
    entry = reply[1].string
    text = Array(reply[2].bytes)
    deliveries = try decodeInteger(reply[3])
  }
}
