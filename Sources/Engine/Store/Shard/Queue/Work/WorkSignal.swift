internal import Model
package import Redis

/// Tells of work that is added, over a connection of its own that blocks in XREADGROUP.
///
/// The watchers of all processes are a consumer group of their own, so that Redis tells one of them of each entry, and does
/// nothing for the others. A process without room for
/// it gives it back to them. `pass`, then look for work, then `wait` again
/// and again. Delayed chunks are no entries; `promote` says when the next is due.
///
/// A sign can be lost, with a process that dies as it is told or an answer that does not arrive. So each process looks for work
/// now and then in any case.
package final class WorkSignal {
  /// The group of consumers: WATCHERS in the library. NOACK leaves nothing behind in it, so all may be the same consumer.
  private static let group = "watchers"
  private static let consumer = "watcher"

  private struct Stream {
    let kind: WorkKind
    let priority: Priority
    let key: String
  }

  private let functions: StoreFunctions
  private let streams: [Stream]

  /// - Parameter connection: made with `StoreLibrary.library`, used by nobody else.
  package init(connection: RedisConnection, prefix: String) {
    let keys = Keys(prefix: prefix)
    functions = StoreFunctions(connection: connection, keys: keys)
    // A large job hides what is behind it in a reply: only other jobs, for which whoever is told of it looks as well.
    streams =
      Priority.allCases.map { Stream(kind: .chunks, priority: $0, key: keys.chunks($0)) }
      + Priority.allCases.map { Stream(kind: .jobs, priority: $0, key: keys.jobs($0)) }
  }

  /// Passes over the entries that somebody has been given, and joins the watchers where there are none yet.
  /// - Parameter signs: of which another process is to be told in the place of this one.
  package func pass(givingBack signs: [WorkSign] = []) async throws(RedisError) {
    var call = functions.call("watch")
    for sign in signs {
      call.append(sign.kind.rawValue)
      call.append(sign.priority.rawValue)
      call.append(sign.entry.text)
    }
    try await ready()
    try await functions.run(call) { _ throws(RedisError) in }
  }

  /// Returns when there is an entry of these kinds of which no process was told, or after `maxMs`: the first of each stream.
  /// A large job is told of by its beginning, and the connection made anew: to read it would take as long as to take it in, and
  /// nobody would be told of anything else meanwhile.
  package func wait(for kinds: Set<WorkKind>, maxMs: UInt64) async throws(RedisError) -> [WorkSign]
  {
    let streams = streams.filter { kinds.contains($0.kind) }
    var command = RedisCommand(
      "XREADGROUP", "GROUP", Self.group, Self.consumer, "COUNT", "1", "BLOCK",
      String(max(1, maxMs)), "NOACK", "STREAMS")
    for stream in streams { command.append(stream.key) }
    for _ in streams { command.append(">") }
    try await ready()
    return try await functions.connection.call(
      command, timeoutMs: maxMs + RedisLimits.commandTimeoutMs, cutBytes: StoreLimits.signBytesMax
    ) { Self.signs($0, of: streams) }
  }

  /// A large job may just have cost the connection.
  private func ready() async throws(RedisError) {
    try await functions.connection.waitUntilReady(timeoutMs: StoreLimits.signReadyMs)
  }

  /// Reads the signs from XREADGROUP's reply: each stream that has something, and its first entry's id.
  private static func signs(_ reply: RedisReply, of streams: [Stream]) -> [WorkSign] {
    guard !reply.isNull else { return [] }
    return (0..<reply.count).compactMap { index in
      let part = reply[index]
      guard part.count == 2, part[1].count > 0, part[1][0].count > 0,
        let entry = EntryID(part[1][0][0].string),
        let stream = streams.first(where: { $0.key == part[0].string })
      else { return nil }
      return WorkSign(kind: stream.kind, priority: stream.priority, entry: entry)
    }
  }
}

/// Tells of an entry that was added to a work stream. Only a sign: the entry may be somebody else's by the time of a claim.
package struct WorkSign: Sendable, Equatable {
  package let kind: WorkKind
  let priority: Priority
  let entry: EntryID
}
