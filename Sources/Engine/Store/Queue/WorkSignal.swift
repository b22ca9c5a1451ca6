internal import Model
package import Redis

/// Tells of work that is added, over a connection of its own that blocks in XREAD.
///
/// `pass`, then look for work, then `wait` again and again: each entry that nobody had been given ends a wait, the first of
/// each stream at a time. Only a sign: the entry may be somebody else's by the time of the claim. Delayed chunks
/// are no entries; `promote` says when the next is due.
package final class WorkSignal {
  private let functions: StoreFunctions
  private let streams: [String]
  /// The entry of each stream that it waits behind.
  private var seen: [EntryID]

  /// - Parameter connection: made with `StoreLibrary.library`, used by nobody else.
  package init(connection: RedisConnection, prefix: String) {
    let keys = Keys(prefix: prefix)
    functions = StoreFunctions(connection: connection, keys: keys)
    streams = Priority.allCases.map { keys.jobs($0) } + Priority.allCases.map { keys.chunks($0) }
    seen = streams.map { _ in .zero }
  }

  /// Passes over the entries that somebody has been given.
  package func pass() async throws(RedisError) {
    let given = try await functions.run(functions.call("tips")) { reply throws(RedisError) in
      (0..<reply.count).map { EntryID(reply[$0].string) }
    }
    guard given.count == streams.count else { throw .unexpectedReply("tips") }
    for (index, id) in given.enumerated() {
      guard let id else { throw .unexpectedReply("tips") }
      seen[index] = max(seen[index], id)
    }
  }

  /// Returns when there is an entry behind those that were seen, or after `maxMs`.
  package func wait(maxMs: UInt64) async throws(RedisError) -> WorkNews {
    var command = RedisCommand("XREAD", "COUNT", "1", "BLOCK", String(max(1, maxMs)), "STREAMS")
    for stream in streams { command.append(stream) }
    for id in seen { command.append(id.text) }
    let added: [(stream: String, id: EntryID)]
    do throws(RedisError) {
      added = try await functions.connection.call(
        command, timeoutMs: maxMs + RedisLimits.commandTimeoutMs
      ) { Self.added($0) }
    } catch {
      // The next server's clock may be behind: its new entries would lie below those that were seen.
      seen = streams.map { _ in .zero }
      throw error
    }
    var news = WorkNews()
    for (stream, id) in added {
      guard let index = streams.firstIndex(of: stream) else { continue }
      seen[index] = id
      if index < Priority.allCases.count { news.hasJobs = true } else { news.hasChunks = true }
    }
    return news
  }

  /// Of XREAD's reply: each stream that has something, and its first entry's id.
  private static func added(_ reply: RedisReply) -> [(stream: String, id: EntryID)] {
    guard !reply.isNull else { return [] }
    return (0..<reply.count).compactMap { index in
      let part = reply[index]
      guard part.count == 2, part[1].count > 0, part[1][0].count > 0,
        let id = EntryID(part[1][0][0].string)
      else { return nil }
      return (part[0].string, id)
    }
  }
}
