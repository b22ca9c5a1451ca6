internal import Model
package import Redis

// Jobs that are sent from their entries.
extension JobQueue {
  /// Takes the names of jobs that the consumer is going to send from their entries.
  /// - Returns: of each `.new` (send it), `.cancelled` (it was paused or cancelled while it waited: admit it), or why not; a
  ///   failure when Redis refuses this one.
  package func beginDirect(
    _ jobs: [DirectJob], consumer: String
  ) async throws(RedisError) -> [Result<AdmissionAnswer, RedisError>] {
    var command = functions.call("begin_direct", consumer)
    for job in jobs {
      command.append(job.entry.priority.rawValue)
      command.append(job.entry.entry)
      command.append(job.admission.app)
      command.append(job.admission.id)
      command.append(job.admission.digest)
    }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: jobs.count)
      var answers: [Result<AdmissionAnswer, RedisError>] = []
      for index in 0..<reply.count {
        let answer = reply[index]
        answers.append(
          answer.kind == .error ? .failure(answer.failure) : .success(try decodeWord(answer)))
      }
      return answers
    }
  }

  /// Writes the records of direct jobs that have ended, and drops their entries. May be repeated after a lost reply.
  package func endDirect(
    _ endings: [DirectEnding], consumer: String
  ) async throws(RedisError) -> [DirectAnswer] {
    var command = functions.call("end_direct", consumer)
    for ending in endings { ending.append(to: &command) }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: endings.count)
      var answers: [DirectAnswer] = []
      for index in 0..<reply.count { answers.append(try decodeWord(reply[index])) }
      return answers
    }
  }

  /// Makes a direct job one like any other, of a chunk that the consumer has.
  /// - Parameter content: canonical `JobContent`.
  /// - Returns: the chunk; nil when the job is another worker's by now.
  package func admit(
    begun job: DirectJob, content: [UInt8], startedAtMs: Int64, consumer: String
  ) async throws(RedisError) -> ChunkClaim? {
    var command = functions.call("admit_begun")
    var admission = job.admission
    admission.content = content
    admission.startedAtMs = startedAtMs
    admission.sections(of: job.entry, consumer: consumer).append(to: &command)
    return try await functions.run(command) { reply throws(RedisError) in
      guard reply.kind == .array else {
        // Who has the name has the job.
        let _: AdmissionAnswer = try decodeWord(reply)
        return nil
      }
      try expectArray(reply, exactly: 2)
      return job.claim(entry: try decodeEntry(reply[1]))
    }
  }
}

extension DirectEnding {
  /// The words of `end_direct`.
  fileprivate func append(to command: inout RedisCommand) {
    let admission = job.admission
    command.append(job.entry.priority.rawValue)
    command.append(job.entry.entry)
    command.append(admission.app)
    command.append(admission.id)
    command.append(String(startedAtMs))
    command.append(admission.retentionSeconds ?? StoreLimits.recordSeconds)
    command.append(admission.recipients + settlement.totalDelta)
    command.append(settlement.noInstallations)
    var words: [UInt8] = []
    words.reserveCapacity(Self.usualWordBytes)
    for reached in settlement.reached {
      Self.append([reached.network, reached.outcome, String(reached.count)], to: &words)
    }
    command.append(words)
    words.removeAll(keepingCapacity: true)
    for tally in settlement.tallies {
      Self.append(
        [
          tally.network.rawValue, tally.environment.rawValue, String(tally.answers),
          String(tally.misfits),
        ], to: &words)
    }
    command.append(words)
  }

  /// Of a job to one network.
  private static let usualWordBytes = 64

  /// Adds a word, its parts divided by bars, behind a space if others stand before it.
  private static func append(_ parts: [String], to words: inout [UInt8]) {
    if !words.isEmpty { words.append(UInt8(ascii: " ")) }
    for (position, part) in parts.enumerated() {
      if position > 0 { words.append(UInt8(ascii: "|")) }
      words.append(contentsOf: part.utf8)
    }
  }
}
