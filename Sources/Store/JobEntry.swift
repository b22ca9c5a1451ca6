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

  /// When it was enqueued, in epoch milliseconds, by the time in its id; nil when the producer chose an id
  /// that cannot be one. The admission decides it alike (`enqueued_at` of the functions).
  package func enqueuedAtMs(nowMs: Int64) -> Int64? {
    guard let text = entry.split(separator: "-").first, let ms = Int64(text), ms <= nowMs,
      ms > nowMs - StoreLimits.entryAgeMsMax
    else { return nil }
    return ms
  }

  init(_ reply: RedisReply) throws(RedisError) {
    try expectArray(reply, atLeast: 4)
    priority = try decodeWord(reply[0])
    entry = reply[1].string
    text = Array(reply[2].bytes)
    deliveries = try decodeInteger(reply[3])
  }
}
