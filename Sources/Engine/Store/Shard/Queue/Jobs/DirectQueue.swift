internal import Model
package import Redis

/// Jobs that are sent from their entries: begun, and ended or made like any other.
package struct DirectQueue {
  let functions: StoreFunctions

  /// Takes the names of jobs that the consumer is going to send from their entries.
  /// - Returns: of each `.new` (send it), `.cancelled` (it was paused or cancelled while it waited: admit it), or why not; a
  ///   failure when Redis refuses this one.
  package func begin(
    _ jobs: [DirectJob], consumer: String
  ) async throws(RedisError) -> [Result<AdmissionAnswer, RedisError>] {
    var command = functions.call("begin_direct", consumer)
    Self.appendRanges(of: jobs, to: &command)
    for group in Self.groups(
      of: jobs,
      where: {
        $0.entry.priority == $1.entry.priority && $0.admission.app == $1.admission.app
          && $0.admission.retention.isAsLong(as: $1.admission.retention)
      })
    {
      command.append(group.first!.entry.priority.rawValue)
      command.append(group.first!.admission.app)
      command.append(group.first!.admission.retention.wellSeconds)
      command.append(group.count)
      for job in group {
        command.append(job.entry.entry)
        command.append(job.admission.id)
        command.append(job.admission.digest)
      }
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
  package func end(
    _ endings: [DirectEnding]
  ) async throws(RedisError) -> [DirectAnswer] {
    var command = functions.call("end_direct")
    for group in Self.groups(of: endings, where: { $0.isLike($1) }) {
      group.first!.append(to: &command)
      command.append(group.count)
      for ending in group {
        command.append(ending.job.entry.entry)
        command.append(ending.job.admission.id)
        command.append(ending.job.admission.digest)
      }
    }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: endings.count)
      var answers: [DirectAnswer] = []
      for index in 0..<reply.count { answers.append(try decodeWord(reply[index])) }
      return answers
    }
  }

  /// Returns groups of neighbours that have in common what a group of the functions says once.
  private static func groups<Element>(
    of all: [Element], where areAlike: (Element, Element) -> Bool
  ) -> [ArraySlice<Element>] {
    var groups: [ArraySlice<Element>] = []
    var first = 0
    for index in all.indices
    where index + 1 == all.count || !areAlike(all[first], all[index + 1]) {
      groups.append(all[first...index])
      first = index + 1
    }
    return groups
  }

  /// Between which ids the entries of each priority stand: together they are found fast.
  private static func appendRanges(
    of jobs: [DirectJob], to command: inout RedisCommand
  ) {
    var ranges: [Priority: (first: EntryID, last: EntryID)] = [:]
    for entry in jobs.lazy.map(\.entry) {
      guard let id = EntryID(entry.entry) else { continue }
      let known = ranges[entry.priority] ?? (id, id)
      ranges[entry.priority] = (min(known.first, id), max(known.last, id))
    }
    command.append(ranges.count)
    for (priority, range) in ranges {
      command.append(priority.rawValue)
      command.append(range.first.text)
      command.append(range.last.text)
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
    admission.timing.startedAtMs = startedAtMs
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

extension Admission.Retention {
  fileprivate var wellSeconds: Int { seconds ?? StoreLimits.recordSeconds }

  /// Whether the records of two jobs are kept alike.
  fileprivate func isAsLong(as other: Self) -> Bool {
    seconds == other.seconds && otherwiseSeconds == other.otherwiseSeconds
  }
}

extension DirectEnding {
  /// Installations that the job came to.
  private var total: Int { job.admission.audience.recipients + settlement.totalDelta }

  /// Whether the words of its group are those of another's.
  fileprivate func isLike(_ other: DirectEnding) -> Bool {
    startedAtMs == other.startedAtMs && job.entry.priority == other.job.entry.priority
      && job.admission.app == other.job.admission.app
      && job.admission.retention.isAsLong(as: other.job.admission.retention)
      && total == other.total
      && settlement.noInstallations == other.settlement.noInstallations
      && settlement.skippedUnread == other.settlement.skippedUnread
      && settlement.counts == other.settlement.counts
      && settlement.tallies == other.settlement.tallies
  }

  /// Appends the words that the jobs of its group have in common, in `end_direct`.
  fileprivate func append(to command: inout RedisCommand) {
    command.append(job.entry.priority.rawValue)
    command.append(job.admission.app)
    let retention = job.admission.retention
    command.append(retention.wellSeconds)
    command.append(retention.otherwiseSeconds ?? retention.wellSeconds)
    command.append(startedAtMs)
    command.append(total)
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

  /// Bytes of the words for a job to one network.
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

/// Redis's answer to the end of a direct job.
package enum DirectAnswer: String, Sendable {
  /// The job is over: as was told now, or as this worker or another told before.
  case ended = "OK"
  /// The job goes on as a chunk, or its record is gone: nothing was counted.
  case stale = "STALE"
  /// The counts do not add up: the job is to be admitted.
  case admit = "ADMIT"
}
