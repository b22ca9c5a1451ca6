internal import Model
package import Redis

/// The stream of what operators did: by the HTTP API, the page and the command line. Plain commands alone: no function is
/// needed.
package struct ActStore {
  let functions: StoreFunctions

  /// Adds an act. The oldest go when there are more than `StoreLimits.noticesMax`.
  /// - Parameters:
  ///   - who: a user of a machine, or the id of a key.
  ///   - whoName: the key's name; empty for none. The key may be gone when somebody reads of the act.
  ///   - from: an address, or `command line`.
  ///   - nowMs: epoch milliseconds.
  package func add(
    _ act: Act, by who: String, named whoName: String = "", from: String, nowMs: Int64
  ) async throws(RedisError) {
    var command = RedisCommand(
      "XADD", functions.keys.acts, "MAXLEN", "~", String(StoreLimits.noticesMax), "*")
    let fields =
      [
        ("at", String(nowMs)), ("verb", act.verb), ("app", act.app), ("subject", act.subject),
        ("detail", act.detail), ("who", Act.cut(who, StoreLimits.actTextBytesMax)),
        ("from", Act.cut(from, StoreLimits.actTextBytesMax)),
      ]
      + (whoName.isEmpty ? [] : [("who_name", Act.cut(whoName, StoreLimits.actTextBytesMax))])
    for (name, value) in fields {
      command.append(name)
      command.append(value)
    }
    _ = try await functions.connection.call(command) { reply throws(RedisError) in
      try decodeEntry(reply)
    }
  }

  /// A page of acts, the newest first.
  /// - Parameters:
  ///   - before: the entry to start behind, which is older than those before; nil for the newest.
  ///   - max: the page has fewer at the stream's end only.
  package func page(
    before: String? = nil, max: Int
  ) async throws(RedisError) -> [ActEntry] {
    let command = RedisCommand(
      "XREVRANGE", functions.keys.acts, before.map { "(\($0)" } ?? "+", "-", "COUNT",
      String(min(max, StoreLimits.actPageMax)))
    let items = try await functions.connection.call(command).array ?? []
    return items.compactMap { item in
      guard let parts = item.array, parts.count == 2, let entry = parts[0].string else {
        return nil
      }
      return ActEntry(entry: entry, fields: parts[1].pairs)
    }
  }
}
