package import Model
internal import Redis

/// The answer of a function that leases jobs.
struct TakenJobs: Sendable {
  struct Job: Sendable {
    let priority: Priority
    let id: String
    /// Nil for one that the caller is to read.
    let text: [UInt8]?
    let deliveries: Int

    var entry: JobEntry {
      JobEntry(priority: priority, entry: id, text: text ?? [], deliveries: deliveries)
    }
  }

  /// Entries that the caller is to lease and read.
  struct Reading: Sendable {
    let priority: Priority
    let atOnce: Int
    let group: String
  }

  private(set) var jobs: [Job] = []
  private(set) var refused: [RefusedEntry] = []
  private(set) var looks: [LookAhead] = []
  private(set) var reading: Reading?
  /// Whether silent workers had left some of it, and may have left more.
  private(set) var hasAbandoned = false

  /// Whether some are too large for a function, so that they are still to be read, which takes long.
  var hasMoreToRead: Bool {
    reading != nil || jobs.contains { $0.text == nil }
  }

  init(_ reply: RedisReply) throws(RedisError) {
    for index in 0..<reply.count {
      let row = reply[index]
      try expectArray(row, atLeast: 3)
      switch row[0].string {
      case "NEW":
        let priority: Priority = try decodeWord(row[1])
        for column in stride(from: 2, to: row.count - 1, by: 2) {
          jobs.append(
            Job(
              priority: priority, id: try decodeEntry(row[column]),
              text: Array(row[column + 1].bytes), deliveries: 1))
        }
      case "LOOK":
        try expectArray(row, exactly: 6)
        looks.append(
          LookAhead(
            priority: try decodeWord(row[1]), from: try decodeEntry(row[2]), to: row[3].string,
            app: row[4].isNull ? nil : row[4].string, atOnce: max(1, try decodeCount(row[5]))))
      case "READ":
        try expectArray(row, exactly: 4)
        reading = Reading(
          priority: try decodeWord(row[1]), atOnce: max(1, try decodeCount(row[2])),
          group: row[3].string)
      case "ABANDONED":
        hasAbandoned = true
      default:
        guard row.count > 3 else {
          refused.append(try RefusedEntry(row))
          continue
        }
        jobs.append(
          Job(
            priority: try decodeWord(row[0]), id: try decodeEntry(row[1]),
            text: row[2].isNull ? nil : Array(row[2].bytes), deliveries: try decodeCount(row[3])))
      }
    }
  }
}

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
