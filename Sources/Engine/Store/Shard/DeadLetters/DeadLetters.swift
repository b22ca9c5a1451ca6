internal import Model
package import Redis

/// The dead letters of a shard: nothing removes them but their operator.
package struct DeadLetters {
  let functions: StoreFunctions
  let shard: ShardID

  package func count() async throws(RedisError) -> Int {
    try await functions.connection.call(
      RedisCommand("XLEN", functions.keys.dead), decode: decodeCount)
  }

  /// The entry of the newest letter; nil when there is none.
  package func last() async throws(RedisError) -> String? {
    try await functions.connection.call(
      RedisCommand("XREVRANGE", functions.keys.dead, "+", "-", "COUNT", "1")
    ) { reply in reply.count > 0 && reply[0].count > 0 ? reply[0][0].string : nil }
  }

  /// A page of letters, oldest first, without their originals; less than `max` at the end only.
  /// - Parameter after: the entry to start behind.
  package func list(after: String? = nil, max: Int) async throws(RedisError) -> [DeadLetter] {
    guard functions.connection.hasLibrary else {
      return try await listPlainly(after: after, max: max)
    }
    var letters: [DeadLetter] = []
    var areMore = true
    while areMore, letters.count < max {
      var command = functions.call("dead_list", letters.last?.entry ?? after ?? "-")
      command.append(max - letters.count)
      let page = try await functions.run(command) { RESPValue($0).array ?? [] }
      areMore = page.first?.integer == 1
      let found = Self.decode(page.dropFirst(), shard)
      // Else an entry that cannot be read would be asked for again and again.
      guard !found.isEmpty else { break }
      letters += found
    }
    return letters
  }

  /// Lists the letters with plain reads, which take the originals along: a few letters at a time, or one where they are
  /// large, as those of older versions.
  private func listPlainly(after: String?, max: Int) async throws(RedisError) -> [DeadLetter] {
    var letters: [DeadLetter] = []
    var count = 1
    while letters.count < max {
      let start = (letters.last?.entry ?? after).map { "(\($0)" } ?? "-"
      let command = RedisCommand(
        "XRANGE", functions.keys.dead, start, "+", "COUNT",
        String(min(count, max - letters.count)))
      let items = try await functions.connection.call(command).array ?? []
      let page = Self.decode(items[...], shard)
      guard let last = page.last else { break }
      let bytes = page.reduce(0) { sum, letter in
        sum + DeadLetter.originals.reduce(0) { $0 + (letter.fields[$1]?.utf8.count ?? 0) }
      }
      count = bytes <= page.count * StoreLimits.letterBytesMax ? StoreLimits.lettersAtOnce : 1
      letters += page.dropLast().map(\.withoutOriginal) + [last.withoutOriginal]
    }
    return letters
  }

  /// One letter with its original; nil when there is none.
  package func show(_ entry: String) async throws(RedisError) -> DeadLetter? {
    let reply = try await functions.connection.call(
      RedisCommand("XRANGE", functions.keys.dead, entry, entry))
    guard let letter = Self.decode((reply.array ?? [])[...], shard).first else { return nil }
    guard let name = letter.fields["kept"] else { return letter }
    let original = try await functions.connection.call(
      RedisCommand("GET", functions.keys.letter(entry)))
    var fields = letter.fields
    fields[name] = original.string
    fields["kept"] = nil
    if original.string != nil { fields["truncated"] = "0" }
    return DeadLetter(name: letter.name, fields: fields)
  }

  /// Queues a refused job again as new, or the open recipients of a chunk within their job.
  package func retry(_ entry: String) async throws(RedisError) -> DeadRetryAnswer {
    let answer = try await functions.run(functions.call("dead_retry", entry)) {
      reply throws(RedisError) in
      reply.string == "LARGE" ? nil : try DeadRetryAnswer(reply, of: shard)
    }
    if let answer { return answer }
    do throws(RedisError) {
      return try await retryLarge(entry)
    } catch .server(let code, _) where code == "NOPERM" {
      // The rights of an older version have no transactions.
      return try await functions.run(functions.call("dead_retry", entry, "copy")) {
        reply throws(RedisError) in try DeadRetryAnswer(reply, of: shard)
      }
    }
  }

  /// - Returns: false when it was not there.
  package func drop(_ entry: String) async throws(RedisError) -> Bool {
    try await functions.run(functions.call("dead_drop", entry)) { $0.integer == 1 }
  }

  private static func decode(
    _ items: ArraySlice<RESPValue>, _ shard: ShardID
  ) -> [DeadLetter] {
    items.compactMap { item in
      guard let parts = item.array, parts.count == 2, let entry = parts[0].string,
        let id = EntryID(entry)
      else { return nil }
      return DeadLetter(
        name: ShardEntry(shard: shard, id: id),
        fields: Dictionary(parts[1].pairs, uniquingKeysWith: { $1 }))
    }
  }
}

/// The result of retrying a dead letter.
package enum DeadRetryAnswer: Sendable, Equatable {
  /// A refused job is in its stream again, by this entry; nil for the recipients of a chunk.
  case retried(entry: ShardEntry?)
  /// Retried or dropped before.
  case absent
  /// The letter cannot be retried: its job's record has expired, or the original is not kept.
  case gone
  /// The job was cancelled and still ends: retry it when nothing is pending any more.
  case ending

  init(_ reply: RedisReply, of shard: ShardID) throws(RedisError) {
    guard reply.kind != .array else {
      try expectArray(reply, atLeast: 1)
      self = .retried(entry: reply.count > 1 ? try decodeEntry(reply[1], of: shard) : nil)
      return
    }
    switch reply.string {
    case "ABSENT": self = .absent
    case "GONE": self = .gone
    case "ENDING": self = .ending
    default: throw .unexpectedReply("dead_retry")
    }
  }
}
