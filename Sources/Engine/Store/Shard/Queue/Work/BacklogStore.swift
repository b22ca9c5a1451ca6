package import Model
package import Redis

/// How much waits for workers, and for how long.
package struct BacklogStore {
  let functions: StoreFunctions

  /// How many jobs and chunks there are, those included that workers hold; 0 where a key holds something else (`KeyTypes`).
  package func status() async throws(RedisError) -> QueueStatus {
    let keys = functions.keys
    var status = QueueStatus()
    for priority in Priority.allCases {
      status.jobs[priority] = try await length("XLEN", keys.jobs(priority))
      status.chunks[priority] = try await length("XLEN", keys.chunks(priority))
    }
    status.delayed = try await length("ZCARD", keys.delayed)
    status.dead = try await length("XLEN", keys.dead)
    return status
  }

  /// Chunks that workers hold now; they are among those of `status`.
  package func heldChunks() async throws(RedisError) -> [Priority: Int] {
    var held: [Priority: Int] = [:]
    for priority in Priority.allCases { held[priority] = try await heldChunks(priority) }
    return held
  }

  private func heldChunks(_ priority: Priority) async throws(RedisError) -> Int {
    do throws(RedisError) {
      return try await functions.connection.call(
        RedisCommand("XPENDING", functions.keys.chunks(priority), "workers")
      ) { $0.count > 0 ? StoredNumber.count($0[0].integer ?? 0) : 0 }
    } catch {
      // The consumer group does not exist yet, or the stream is none.
      switch error {
      case .server("NOGROUP", _), .server("WRONGTYPE", _): return 0
      default: throw error
      }
    }
  }

  /// How many chunks of each app are in the streams, those included that workers hold. It only reads, and needs no functions.
  package func chunksByApp() async throws(RedisError) -> [String: Int] {
    var chunks: [String: Int] = [:]
    for priority in Priority.allCases {
      let fields = try await functions.connection.call(
        RedisCommand("HGETALL", functions.keys.share(priority))
      ).pairs
      for (app, text) in fields {
        let count = StoredNumber.count(Int(text) ?? 0)
        if count > 0 { chunks[app, default: 0] += count }
      }
    }
    return chunks
  }

  /// For how long the oldest job or chunk that nobody has taken has been waiting; 0 without any.
  package func oldestWaitingMs() async throws(RedisError) -> Int {
    let answer = try await oldest([])
    guard !answer.unknown.isEmpty else { return answer.waitingMs }
    // A function takes milliseconds to copy a megabyte, and XRANGE a tenth of that.
    var found: [String] = []
    for (priority, behind) in answer.unknown {
      let command = RedisCommand(
        "XRANGE", functions.keys.jobs(priority), "(\(behind)", "+", "COUNT", "1")
      let first = try await functions.connection.call(command) { reply in
        reply.count > 0 && reply[0].count > 0 ? reply[0][0].string : nil
      }
      if let first { found += [priority.rawValue, first] }
    }
    return found.isEmpty ? answer.waitingMs : try await oldest(found).waitingMs
  }

  /// The last that workers saw of the work that nobody has taken. It only reads, and needs no functions.
  package func waitingNotes() async throws(RedisError) -> WaitingNotes {
    let fields = try await functions.connection.call(
      RedisCommand("HGETALL", functions.keys.oldest)
    ).pairs
    return WaitingNotes(fields: fields)
  }

  /// - Parameter found: priorities, each followed by the entry that is the first of it.
  /// - Returns: also behind which entry the first one is, where a function is not to look for it.
  private func oldest(
    _ found: [String]
  ) async throws(RedisError) -> (waitingMs: Int, unknown: [(Priority, behind: String)]) {
    var command = functions.call("oldest")
    for word in found { command.append(word) }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 1)
      var unknown: [(Priority, behind: String)] = []
      for index in stride(from: 1, to: reply.count - 1, by: 2) {
        unknown.append((try decodeWord(reply[index]), try decodeEntry(reply[index + 1])))
      }
      return (try decodeCount(reply[0]), unknown)
    }
  }

  private func length(_ command: String, _ key: String) async throws(RedisError) -> Int {
    do throws(RedisError) {
      return try await functions.connection.call(RedisCommand(command, key), decode: decodeCount)
    } catch {
      guard case .server("WRONGTYPE", _) = error else { throw error }
      return 0
    }
  }
}

/// The work streams and sets at one moment.
package struct QueueStatus: Sendable, Equatable {
  /// Entries, those that are being worked on included.
  package var jobs: [Priority: Int] = [:]
  package var chunks: [Priority: Int] = [:]
  package var delayed = 0
  package var dead = 0

  package init() {}

  /// Adds what another store has.
  package mutating func add(_ other: QueueStatus) {
    jobs.merge(other.jobs) { $0 + $1 }
    chunks.merge(other.chunks) { $0 + $1 }
    delayed += other.delayed
    dead += other.dead
  }

  package var backlog: Int { jobs.values.reduce(0, +) + chunks.values.reduce(0, +) + delayed }
}
