package import Redis

/// The dead letters: nothing removes them but their operator.
package struct DeadLetters {
  let functions: StoreFunctions

  package func count() async throws(RedisError) -> Int {
    try await functions.connection.call(
      RedisCommand("XLEN", functions.keys.dead), decode: decodeCount)
  }

  /// A page of letters, oldest first, without their originals.
  /// - Parameter after: the entry to start behind.
  package func list(after: String? = nil, max: Int) async throws(RedisError) -> [DeadLetter] {
    var command = functions.call("dead_list", after ?? "-")
    command.append(max)
    return try await functions.run(command) { Self.letters(RESPValue($0)) }
  }

  /// One letter with its original; nil when there is none.
  package func show(_ entry: String) async throws(RedisError) -> DeadLetter? {
    let command = RedisCommand("XRANGE", functions.keys.dead, entry, entry)
    return Self.letters(try await functions.connection.call(command)).first
  }

  /// Queues a refused job again as new, or the open recipients of a chunk within their job.
  package func retry(_ entry: String) async throws(RedisError) -> DeadRetryAnswer {
    try await functions.run(functions.call("dead_retry", entry)) { reply throws(RedisError) in
      try decodeWord(reply)
    }
  }

  /// - Returns: false when it was not there.
  package func drop(_ entry: String) async throws(RedisError) -> Bool {
    try await functions.run(functions.call("dead_drop", entry)) { $0.integer == 1 }
  }

  private static func letters(_ reply: RESPValue) -> [DeadLetter] {
    (reply.array ?? []).compactMap { item in
      guard let parts = item.array, parts.count == 2, let entry = parts[0].string else {
        return nil
      }
      return DeadLetter(
        entry: entry, fields: Dictionary(parts[1].pairs, uniquingKeysWith: { $1 }))
    }
  }
}
