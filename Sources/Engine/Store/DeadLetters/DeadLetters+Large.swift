internal import Redis

extension DeadLetters {
  /// Queues a refused job again whose text is so large that a function takes tens of milliseconds to copy it. A
  /// transaction takes as long as its XADD. Whoever else retries or drops the letter makes it void.
  ///
  /// One at a time on a connection: its end forgets what others watch.
  func retryLarge(_ entry: String) async throws(RedisError) -> DeadRetryAnswer {
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
    guard let priority = fields["priority"], let text, fields["kind"] == "job" else {
      _ = try await connection.call(RedisCommand("UNWATCH"))
      return fields.isEmpty || text == nil ? .absent : .gone
    }
    var job = RedisCommand(reservingBytes: text.count + 256)
    job.append("XADD")
    job.append("\(functions.keys.prefix):jobs:\(priority)")
    job.append("*")
    job.append("job")
    job.append(text)
    return try await connection.transaction([
      job, RedisCommand("XDEL", functions.keys.dead, entry), RedisCommand("UNLINK", letter),
    ]) { reply throws(RedisError) in
      guard !reply.isNull else { return .absent }
      try expectArray(reply, exactly: 3)
      return .retried(entry: try decodeEntry(reply[0]))
    }
  }
}
