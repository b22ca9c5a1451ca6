package import Model
package import Redis

/// Jobs that no worker has admitted yet: they have no record, and are found by what their producers wrote.
package struct WaitingJobs {
  let functions: StoreFunctions

  /// Looks for a job of this id among the next entries of a stream. It takes Redis 1 to 2 ms.
  /// - Parameter after: where the last page ended; nil to begin with.
  package func search(
    id: String, priority: Priority, after: String?
  ) async throws(RedisError) -> WaitingPage {
    let page = try await functions.read(
      "find_waiting", [priority.rawValue, id, after ?? "0-0", String(Limits.jobBytesMax)]
    ) { reply throws(RedisError) in
      reply.string == "LARGE" ? nil : try WaitingPage(reply)
    }
    if let page { return page }
    return try await searchLarge(id: id, priority: priority, after: after ?? "0-0")
  }

  /// Looks on where jobs are too large for a function to read.
  private func searchLarge(
    id: String, priority: Priority, after: String
  ) async throws(RedisError) -> WaitingPage {
    var (looked, bytes, last, hasMore) = (0, 0, after, true)
    var found: [String] = []
    while hasMore, looked < StoreLimits.searchedMax, bytes < StoreLimits.searchedBytesMax {
      let command = RedisCommand(
        "XRANGE", functions.keys.jobs(priority), "(\(last)", "+", "COUNT", "1")
      let items = try await functions.connection.call(command) { StreamedJob.list($0) }
      hasMore = !items.isEmpty
      for item in items {
        (looked, last) = (looked + 1, item.entry)
        guard let text = item.text else { continue }
        bytes += text.count
        if text.count <= Limits.jobBytesMax, Self.mayHold(id, text) { found.append(item.entry) }
      }
    }
    return WaitingPage(looked: looked, next: hasMore ? last : nil, entries: found)
  }

  /// The job of an id that was made of its entry, without a search; nil when there is none, or it is another's.
  package func job(app: String, givenID id: String) async throws(RedisError) -> WaitingJob? {
    guard let place = JobSource.place(id) else { return nil }
    return try await job(app: app, id: id, priority: place.priority, entry: place.entry)
  }

  /// The job at an entry if it is the one of this name; nil when it is another, or the entry is gone.
  package func job(
    app: String, id: String, priority: Priority, entry: String
  ) async throws(RedisError) -> WaitingJob? {
    guard let text = try await text(priority, entry),
      JobSource.of(entry, priority) == id || Self.mayHold(id, text)
    else { return nil }
    let job = WaitingJob(priority: priority, entry: entry, text: text)
    guard job.id == id, job.app == app || job.app.isEmpty else { return nil }
    return job
  }

  /// The text of the job that is named after its entry (`JobSource`), while that is in its stream.
  package func text(ofSource source: String) async throws(RedisError) -> [UInt8]? {
    guard let place = JobSource.place(source) else { return nil }
    return try await text(place.priority, place.entry)
  }

  private func text(_ priority: Priority, _ entry: String) async throws(RedisError) -> [UInt8]? {
    let key = functions.keys.jobs(priority)
    return try await functions.connection.call(
      RedisCommand("XRANGE", key, entry, entry)
    ) { reply -> [UInt8]? in
      guard reply.count == 1, reply[0].count == 2 else { return nil }
      let fields = reply[0][1]
      let names = Array(stride(from: 0, to: fields.count - 1, by: 2))
      let at = names.last { fields[$0].string == "job" }
      return at.map { Array(fields[$0 + 1].bytes) }
    }
  }

  /// Whether a text may have this id in it, in quotes: it is worth decoding.
  private static func mayHold(_ id: String, _ text: [UInt8]) -> Bool {
    text.withUnsafeBytes { text in
      text.offset(of: UInt8(ascii: "\\")) != nil
        || Array("\"\(id)\"".utf8).withUnsafeBytes { text.contains($0) }
    }
  }

  /// Gives a job that waits and has no fault its record, in state queued, if the name is free. From then on `cancel` and
  /// `pause` know it; the worker that takes it in keeps to them.
  package func name(_ job: WaitingJob) async throws(RedisError) -> NamingAnswer {
    try await takeName(
      job.app, job.id, digest: job.digest, priority: job.priority, entry: job.entry)
  }

  func takeName(
    _ app: String, _ id: String, digest: String, priority: Priority, entry: String
  ) async throws(RedisError) -> NamingAnswer {
    let command = functions.call("name_waiting", priority.rawValue, entry, app, id, digest)
    return try await functions.run(command) { reply throws(RedisError) in try decodeWord(reply) }
  }
}

/// Redis's answer to a name that is taken for a job that waits.
package enum NamingAnswer: String, Sendable {
  /// The name is the job's: it has a record.
  case new = "NEW"
  /// An equal job has the name under another entry.
  case duplicate = "DUPLICATE"
  /// Another job has the name; this one will be refused.
  case conflict = "CONFLICT"
  /// The entry is not there any more: it was admitted or refused.
  case gone = "GONE"
}

/// One step of a search among the jobs that wait.
package struct WaitingPage: Sendable {
  /// How many entries were looked at.
  package let looked: Int
  /// Behind which entry to go on; nil at the stream's end.
  package let next: String?
  /// Entries that may be the job.
  package let entries: [String]

  init(looked: Int, next: String?, entries: [String]) {
    self.looked = looked
    self.next = next
    self.entries = entries
  }

  init(_ reply: RedisReply) throws(RedisError) {
    try expectArray(reply, atLeast: 3)
    looked = try decodeCount(reply[0])
    next = try decodeInteger(reply[2]) == 1 ? reply[1].string : nil
    entries = (3..<reply.count).map { reply[$0].string }
  }
}
