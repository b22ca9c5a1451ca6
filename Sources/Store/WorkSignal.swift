package import Redis
internal import Model

/// Wakes an idle lane when work is added, over a connection of its own that blocks in XREAD.
///
/// `arm`, then claim until nothing comes, then `wait`: what is added in between ends the wait at once, because
/// the wait begins behind the entries that were there when it was armed. Only a wake-up: the entry that ended
/// the wait may be somebody else's by the time of the claim. Delayed chunks wake nobody; `promote` says when
/// the next is due.
package final class WorkSignal {
  private let functions: StoreFunctions
  private let streams: [String]
  private var seen: [String] = []

  /// - Parameter connection: made with `StoreLibrary.library`, used by nobody else.
  package init(connection: RedisConnection, prefix: String) {
    let keys = Keys(prefix: prefix)
    functions = StoreFunctions(connection: connection, keys: keys)
    streams = Priority.allCases.map { keys.jobs($0) } + Priority.allCases.map { keys.chunks($0) }
  }

  /// Notes how far the streams have come. To be called before looking for work.
  package func arm() async throws(RedisError) {
    seen = try await functions.run(functions.call("tips")) { reply throws(RedisError) in
      (0..<reply.count).map { reply[$0].string }
    }
    guard seen.count == streams.count else { throw .unexpectedReply("tips") }
  }

  /// Returns when something was added since `arm`, or after `maxMs`.
  /// - Returns: what was added.
  package func wait(maxMs: UInt64) async throws(RedisError) -> WorkNews {
    precondition(!seen.isEmpty, "arm first")
    var command = RedisCommand("XREAD", "COUNT", "1", "BLOCK", String(max(1, maxMs)), "STREAMS")
    for stream in streams { command.append(stream) }
    for id in seen { command.append(id) }
    return try await functions.connection.call(
      command, timeoutMs: maxMs + RedisLimits.commandTimeoutMs
    ) { self.news(in: $0) }
  }

  /// Of XREAD's reply: for each stream that has something its name and the entry.
  private func news(in reply: RedisReply) -> WorkNews {
    guard !reply.isNull else { return .none }
    let chunks = streams.suffix(Priority.allCases.count)
    let hasChunks = (0..<reply.count).contains { stream in
      reply[stream].count > 0 && chunks.contains(reply[stream][0].string)
    }
    return hasChunks ? .chunks : .jobs
  }
}
