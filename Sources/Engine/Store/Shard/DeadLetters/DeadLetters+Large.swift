internal import Model
internal import Redis

extension DeadLetters {
  /// Queues a refused job again whose text is so large that a function takes tens of milliseconds to copy it. A
  /// transaction takes as long as its XADD. Whoever else retries or drops the letter makes it void.
  ///
  /// One at a time on a connection: its end forgets what others watch.
  func retryLarge(_ entry: String) async throws(RedisError) -> DeadRetryAnswer {
    for _ in 0..<StoreLimits.largeRetriesMax {
      if let answer = try await retryLargeOnce(entry) { return answer }
    }
    throw .unexpectedReply("the record of the letter's job changes again and again")
  }

  /// Nil when somebody changed the letter, or the record that tells of it, meanwhile.
  private func retryLargeOnce(_ entry: String) async throws(RedisError) -> DeadRetryAnswer? {
    let connection = functions.connection
    let letter = functions.keys.letter(entry)
    _ = try await connection.call(RedisCommand("WATCH", letter))
    let fields = try await connection.call(
      RedisCommand("XRANGE", functions.keys.dead, entry, entry)
    ) { reply -> [String: String] in
      guard reply.count == 1, reply[0].count == 2 else { return [:] }
      return Dictionary(RESPValue(reply[0][1]).pairs, uniquingKeysWith: { $1 })
    }
    let text = try await connection.call(RedisCommand("GET", letter)) { reply in
      reply.isNull ? nil : Array(reply.bytes)
    }
    guard let priority = fields["priority"], let text, fields["kind"] == "job",
      let id = EntryID(entry)
    else {
      _ = try await connection.call(RedisCommand("UNWATCH"))
      return fields.isEmpty || text == nil ? .absent : .gone
    }
    var job = RedisCommand(reservingBytes: text.count + 256)
    job.append("XADD")
    job.append("\(functions.keys.prefix):jobs:\(priority)")
    job.append("*")
    job.append("job")
    job.append(text)
    // The record that the refusal left is gone with it, as `dead_retry` has it.
    var gone = RedisCommand("UNLINK", letter)
    if let record = try await record(
      of: DeadLetter(name: ShardEntry(shard: shard, id: id), fields: fields))
    {
      gone.append(record)
    }
    return try await connection.transaction([
      job, RedisCommand("XDEL", functions.keys.dead, entry), gone,
    ]) { reply throws(RedisError) in
      guard !reply.isNull else { return nil }
      try expectArray(reply, exactly: 3)
      return .retried(entry: try decodeEntry(reply[0], of: shard))
    }
  }

  /// Returns the key of the record that tells of a refused job's letter, which is watched from then on; nil when there is none.
  private func record(of letter: DeadLetter) async throws(RedisError) -> String? {
    guard !letter.app.isEmpty, let priority = Priority(rawValue: letter.priority) else {
      return nil
    }
    let id = letter.id.isEmpty ? JobSource.of(letter.jobEntry, priority) : letter.id
    let key = functions.keys.job(app: letter.app, id: id)
    let connection = functions.connection
    _ = try await connection.call(RedisCommand("WATCH", key))
    do throws(RedisError) {
      let found = try await connection.call(RedisCommand("HMGET", key, "state", "letter"))
        .array?.map(\.string)
      return found == [JobState.refused.rawValue, letter.entry] ? key : nil
    } catch .server {
      // Somebody else keeps something there.
      return nil
    }
  }
}
