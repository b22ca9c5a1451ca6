package import Model
package import Redis

/// Jobs from the producer's entry to the record.
package struct JobQueue {
  let functions: StoreFunctions
  package let direct: DirectQueue
  package let waiting: WaitingJobs

  init(functions: StoreFunctions) {
    self.functions = functions
    direct = DirectQueue(functions: functions)
    waiting = WaitingJobs(functions: functions)
  }

  // MARK: Producers and operators

  /// Adds a job. - Returns: the stream entry.
  package func enqueue(
    _ json: [UInt8], priority: Priority
  ) async throws(RedisError) -> String {
    var command = RedisCommand("XADD", functions.keys.jobs(priority), "*", "job")
    command.append(json)
    return try await functions.connection.call(command) { $0.string }
  }

  /// Adds jobs to their streams, in one pipeline. - Returns: for each why it was not added; nil when it was.
  package func enqueue(_ jobs: [(text: [UInt8], priority: Priority)]) async -> [RedisError?] {
    let commands = jobs.map { job in
      var command = RedisCommand("XADD", functions.keys.jobs(job.priority), "*", "job")
      command.append(job.text)
      return command
    }
    return await functions.connection.callAll(commands) { $0.string }.map { answer in
      if case .failure(let error) = answer { error } else { nil }
    }
  }

  /// Whether an entry is in its stream still.
  package func isQueued(_ entry: String, _ priority: Priority) async throws(RedisError) -> Bool {
    let command = functions.call("has_job", priority.rawValue, entry)
    return try await functions.run(command) { $0.integer == 1 }
  }

  /// How an id stands to a job that is not added yet, as far as plain reads tell; nil when the id is free.
  /// - Parameter content: the digest of the job's content.
  /// - Returns: whether its record is of the same content.
  package func isSame(
    _ content: String?, asRecordOf id: String, app: String
  ) async throws(RedisError) -> Bool? {
    let key = functions.keys.job(app: app, id: id)
    let fields = try await functions.connection.call(
      RedisCommand("HMGET", key, "digest", "admitted")
    ).array?.map(\.string)
    // The job that took the name and was not admitted may become a dead letter, which frees it.
    guard let fields, fields.count == 2, fields[1] == "1", let digest = fields[0] else {
      return nil
    }
    return digest == content
  }

  /// The type of a key that a job names, such as `set`; `none` when it does not exist. Nil when it cannot be known: the
  /// key is not in the cluster slot of the others.
  package func type(ofKey key: String) async throws(RedisError) -> String? {
    let prefix = functions.keys.prefix
    if let tag = Self.hashTag(prefix), Self.hashTag(key) != tag { return nil }
    return try await functions.connection.call(RedisCommand("TYPE", key)).string
  }

  /// Returns the text between the first `{` and the next `}` (redis.io, "Redis cluster specification", Hash tags).
  private static func hashTag(_ key: String) -> Substring? {
    guard let open = key.firstIndex(of: "{") else { return nil }
    let rest = key[key.index(after: open)...]
    guard let close = rest.firstIndex(of: "}"), close > rest.startIndex else { return nil }
    return rest[..<close]
  }

  /// Which admission a job's record is of (`JobSource`); nil when there is no record.
  package func source(app: String, id: String) async throws(RedisError) -> String? {
    try await functions.connection.call(
      RedisCommand("HGET", functions.keys.job(app: app, id: id), "source")
    ).string
  }

  /// The job's public record; nil when there is none (not admitted yet, or expired).
  package func record(app: String, id: String) async throws(RedisError) -> JobRecord? {
    let command = RedisCommand("HGETALL", functions.keys.job(app: app, id: id))
    let fields = try await functions.connection.call(command).pairs
    guard !fields.isEmpty else { return nil }
    do throws(InvalidField) {
      return try JobRecord(app: app, id: id, fields: fields)
    } catch {
      throw .unexpectedReply("job record \(error.pointer): \(error.message)")
    }
  }

  /// Ends the job: what is not sent yet never will be, and counts as skipped.
  /// - Returns: the state now, nil for an unknown job; `cancel` of a finished job changes nothing.
  package func cancel(app: String, id: String) async throws(RedisError) -> JobState? {
    try await change("cancel", app, id)
  }

  /// Keeps the job from sending until `resume`. - Returns: the state now, nil for an unknown job.
  package func pause(app: String, id: String) async throws(RedisError) -> JobState? {
    try await change("pause", app, id)
  }

  /// Has a job keep to so many pushes a second; nil for as many as there can be. Holds for chunks that are claimed from now on,
  /// and at once for a job that keeps to a pace already.
  /// - Returns: the state now, nil for an unknown job.
  package func setPace(
    app: String, id: String, perSecond: Int?
  ) async throws(RedisError) -> JobState? {
    var command = functions.call("pace", app, id, perSecond.map { "\($0)" } ?? "")
    command.append(Limits.segmentHighWaterMax)
    return try await functions.run(command) { reply throws(RedisError) in
      reply.string == "ABSENT" ? nil : try decodeWord(reply)
    }
  }

  /// Takes up to so many pushes of what a job's pace allows now.
  /// - Returns: how many were granted, and after how many ms asking for the rest is worth it.
  package func drawPace(
    app: String, id: String, wanted: Int
  ) async throws(RedisError) -> (granted: Int, retryMs: UInt64) {
    var command = functions.call("draw_pace", app, id)
    command.append(wanted)
    return try await functions.run(command) { reply throws(RedisError) in
      try decodeGrant(reply, wanted: wanted)
    }
  }

  /// - Returns: the state now, nil for an unknown job.
  package func resume(app: String, id: String) async throws(RedisError) -> JobState? {
    try await change("resume", app, id)
  }

  private func change(
    _ function: String, _ app: String, _ id: String
  ) async throws(RedisError) -> JobState? {
    try await functions.run(functions.call(function, app, id)) { reply throws(RedisError) in
      reply.string == "ABSENT" ? nil : try decodeWord(reply)
    }
  }

  // MARK: Admission

  /// In how many ms to `take` again though nothing is added: jobs wait for chunks to be finished. Nil when none does.
  package func heldBackMs() async throws(RedisError) -> UInt64? {
    let ms = try await functions.run(functions.call("held_back"), decode: decodeDelayMs)
    return ms > 0 ? min(UInt64(ms), StoreLimits.heldBackMsMax) : nil
  }

  /// Takes the job's name before its segments are uploaded. One whose segments are told with `admit` needs no name before.
  package func reserve(
    _ entry: JobEntry, app: String, id: String, digest: String, consumer: String
  ) async throws(RedisError) -> AdmissionAnswer {
    let command = functions.call(
      "reserve", consumer, entry.priority.rawValue, entry.entry, app, id, digest)
    return try await functions.run(command) { reply throws(RedisError) in try decodeWord(reply) }
  }

  /// Uploads segments before `admit`, in one pipeline. Repeating it is harmless.
  /// - Parameter first: the number of the first of them; a job's segments count from 1.
  /// - Returns: false when the entry belongs to another worker now, or is gone.
  package func upload(
    _ segments: [[UInt8]], first: Int, of entry: JobEntry, consumer: String
  ) async throws(RedisError) -> Bool {
    let commands = segments.enumerated().map { offset, segment in
      uploading(segment, first + offset, entry, consumer)
    }
    var isOurs = true
    for answer in await functions.run(commands, decode: standing) {
      isOurs = try answer.get() == .ok && isOurs
    }
    return isOurs
  }

  private func standing(_ reply: RedisReply) throws(RedisError) -> WorkStanding {
    try decodeWord(reply)
  }

  private func uploading(
    _ segment: [UInt8], _ number: Int, _ entry: JobEntry, _ consumer: String
  ) -> RedisCommand {
    var command = functions.call("upload", consumer, entry.priority.rawValue, entry.entry)
    command.append(number)
    command.append(segment)
    return command
  }

  /// Makes the record, starts the first chunks and drops the entry, in one step.
  package func admit(
    _ entry: JobEntry, _ admission: Admission, consumer: String
  ) async throws(RedisError) -> AdmissionAnswer {
    try await functions.run(admitting(entry, admission, consumer)) { reply throws(RedisError) in
      try decodeWord(reply)
    }
  }

  /// Admits several jobs, in one pipeline.
  /// - Returns: the answer to each, or why there is none.
  package func admit(
    _ jobs: [(entry: JobEntry, admission: Admission)], consumer: String
  ) async -> [Result<AdmissionAnswer, RedisError>] {
    await functions.run(
      jobs.map { admitting($0.entry, $0.admission, consumer) }
    ) { reply throws(RedisError) in try decodeWord(reply) }
  }

  private func admitting(
    _ entry: JobEntry, _ admission: Admission, _ consumer: String
  ) -> RedisCommand {
    var command = functions.call("admit")
    admission.sections(of: entry, consumer: consumer).append(to: &command)
    return command
  }

  /// Turns the entry into a dead letter, and gives the job a record in state refused, unless its name cannot be read or is
  /// another job's. May be repeated: the entry goes when the letter is there, in one step.
  /// - Parameter retentionSeconds: how long the record is kept.
  /// - Returns: false when it belongs to another worker now.
  @discardableResult
  package func refuse(
    _ entry: JobEntry, _ refusal: Refusal, consumer: String,
    retentionSeconds: Int = StoreLimits.recordSeconds
  ) async throws(RedisError) -> Bool {
    try await refuse(
      [(entry, refusal)], consumer: consumer, retentionSeconds: { _ in retentionSeconds })[0].get()
  }

  /// Refuses several, in one pipeline.
  /// - Parameter retentionSeconds: how long the record of an app's job is kept.
  /// - Returns: the answer to each, or why there is none.
  package func refuse(
    _ jobs: [(entry: JobEntry, refusal: Refusal)], consumer: String,
    retentionSeconds: (String) -> Int
  ) async -> [Result<Bool, RedisError>] {
    for (entry, _) in jobs { keepText(of: entry) }
    let commands = jobs.map { entry, refusal in
      functions.call(
        "refuse", consumer, entry.priority.rawValue, entry.entry, refusal.reason, refusal.field,
        refusal.message, refusal.app, refusal.id,
        String(retentionSeconds(refusal.app)))
    }
    return await functions.run(commands) { $0.string == WorkStanding.ok.rawValue }
  }

  /// Writes a large text down for a dead letter: a function takes milliseconds to copy a megabyte, and a SET none. Where this
  /// fails, the function copies.
  private func keepText(of entry: JobEntry) {
    guard entry.text.count > StoreLimits.letterBytesMax else { return }
    var copy = RedisCommand(reservingBytes: entry.text.count + 256)
    copy.append("SET")
    copy.append(functions.keys.letter(entry.source))
    copy.append(entry.text)
    copy.append("EX")
    copy.append(StoreLimits.letterCopySeconds)
    functions.connection.send(copy) { _ in }
  }

  /// Makes a dead letter of a job that the caller has taken, if its entry is gone and nothing else tells of it; and gives it
  /// a record, as `refuse` does.
  /// - Returns: whether it has become one; false when somebody else has it, or has ended it.
  package func rescue(
    _ entry: JobEntry, app: String, id: String, digest: String, consumer: String,
    retentionSeconds: Int = StoreLimits.recordSeconds
  ) async throws(RedisError) -> Bool {
    var command = functions.call(
      "rescue", consumer, entry.priority.rawValue, entry.entry, app, id, digest)
    command.append(entry.text)
    command.append(retentionSeconds)
    return try await functions.run(command, decode: decodeCount) > 0
  }

  /// Renews the leases of entries whose admission takes long.
  package func heartbeat(
    _ entries: [JobEntry], consumer: String
  ) async throws(RedisError) -> [WorkStanding] {
    var command = functions.call("heartbeat", consumer, WorkKind.jobs.rawValue)
    for entry in entries {
      command.append(entry.priority.rawValue)
      command.append(entry.entry)
      command.append("")
      command.append("")
    }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: entries.count)
      var standings: [WorkStanding] = []
      for index in 0..<reply.count { standings.append(try decodeWord(reply[index])) }
      return standings
    }
  }

  /// The canonical content of an admitted job; nil when it is not kept any more.
  package func content(app: String, id: String) async throws(RedisError) -> [UInt8]? {
    try await functions.connection.call(
      RedisCommand("GET", functions.keys.content(app: app, id: id))
    ).bytes
  }
}
