internal import Model
internal import Redis

/// Leases jobs for a consumer. A function would take 30 ms to copy a job of ten megabytes, and Redis's own commands
/// take 5. So of a stream that has such jobs the functions lease by the entry's id, and the texts are read here.
struct JobTaking {
  let functions: StoreFunctions
  let consumer: String

  /// Leases jobs as `JobQueue.take` does.
  func take(
    max: Int, downTo last: Priority, abandonedForMs: UInt64?, leavesLarge: Bool,
    _ onRefusal: (RefusedEntry) -> Void,
    onTakeOver: () -> Void,
    beforeReading: ([JobEntry]) async throws(RedisError) -> Void
  ) async throws(RedisError) -> [JobEntry] {
    var entries: [JobEntry] = []
    var handedOver = 0
    var command = call(
      max: max, downTo: last, abandonedForMs: abandonedForMs, leavesLarge: leavesLarge)
    var mayLook = true
    // Each of them reads one out, and one of them is asked again.
    for _ in 0...Priority.allCases.count {
      let answer = try await rows(of: command)
      answer.refused.forEach(onRefusal)
      if answer.hasAbandoned { onTakeOver() }
      if answer.hasMoreToRead {
        // The others need not wait for it.
        entries += answer.jobs.filter { $0.text != nil }.map(\.entry)
        if !entries.isEmpty { try await beforeReading(entries) }
        handedOver += entries.count
        entries = try await read(answer.jobs.filter { $0.text == nil }, onRefusal)
      } else {
        entries += answer.jobs.map(\.entry)
      }
      // Whoever has jobs does not wait to know whose turn comes after them.
      let waits =
        mayLook && entries.isEmpty && handedOver == 0 && answer.reading == nil
        && answer.refused.isEmpty
      for look in answer.looks {
        if waits { await lookAhead(look) } else { lookAheadMeanwhile(look) }
      }
      let lacks = max - handedOver - entries.count
      if let reading = answer.reading {
        let isOut = try await isReadOut(reading, max: lacks, &entries, onRefusal)
        let hasRoom =
          handedOver + entries.count < max && Self.bytes(of: entries) < StoreLimits.takenBytesMax
        guard isOut, hasRoom else { return entries }
        // What was abandoned is looked for in the priorities that come yet.
        command = call(
          max: max - handedOver - entries.count, downTo: last, abandonedForMs: abandonedForMs,
          behind: reading.priority)
      } else if waits, !answer.looks.isEmpty {
        // It knows now whose turn it is.
        mayLook = false
        command = call(
          max: max, downTo: last, abandonedForMs: nil, leavesLarge: leavesLarge)
      } else {
        return entries
      }
    }
    return entries
  }

  /// Takes the jobs that another function leases.
  func take(
    by command: RedisCommand, _ onRefusal: (RefusedEntry) -> Void = { _ in }
  ) async throws(RedisError) -> [JobEntry] {
    let answer = try await rows(of: command)
    answer.refused.forEach(onRefusal)
    return try await read(answer.jobs, onRefusal)
  }

  private func call(
    max: Int, downTo last: Priority, abandonedForMs: UInt64?, leavesLarge: Bool = false,
    behind: Priority? = nil
  ) -> RedisCommand {
    var command = functions.call("take_jobs", consumer)
    command.append(max)
    command.append(Limits.jobBytesMax)
    command.append(abandonedForMs.map { String($0) } ?? "")
    command.append(leavesLarge ? "1" : "0")
    command.append(last.rawValue)
    if let behind { command.append(behind.rawValue) }
    return command
  }

  private func rows(of command: RedisCommand) async throws(RedisError) -> TakenJobs {
    try await functions.run(command) { reply throws(RedisError) in try TakenJobs(reply) }
  }

  private static func bytes(of entries: [JobEntry]) -> Int {
    entries.reduce(0) { $0 + $1.text.count }
  }

  /// The jobs in their order, with their texts.
  private func read(
    _ jobs: [TakenJobs.Job], _ onRefusal: (RefusedEntry) -> Void
  ) async throws(RedisError) -> [JobEntry] {
    var entries: [JobEntry] = []
    for job in jobs {
      guard job.text == nil else {
        entries.append(job.entry)
        continue
      }
      let command = RedisCommand(
        "XRANGE", functions.keys.jobs(job.priority), job.id, job.id)
      let items = try await functions.connection.call(command) { StreamedJob.list($0) }
      // One that is gone was deleted by somebody.
      for item in items {
        try await add(item, job.priority, deliveries: job.deliveries, to: &entries, onRefusal)
      }
    }
    return entries
  }

  /// Leases the next entries of a stream. - Returns: whether the stream has no more.
  private func isReadOut(
    _ reading: TakenJobs.Reading, max: Int, _ entries: inout [JobEntry],
    _ onRefusal: (RefusedEntry) -> Void
  ) async throws(RedisError) -> Bool {
    var found = 0
    while found < max, Self.bytes(of: entries) < StoreLimits.takenBytesMax {
      let atOnce = min(reading.atOnce, max - found)
      let command = RedisCommand(
        "XREADGROUP", "GROUP", reading.group, consumer, "COUNT", String(atOnce), "STREAMS",
        functions.keys.jobs(reading.priority), ">")
      let items = try await functions.connection.call(command) { reply in
        reply.count > 0 && reply[0].count > 1 ? StreamedJob.list(reply[0][1]) : []
      }
      let own = try await keepTurns(items, reading.priority)
      for item in items where own.contains(item.entry) {
        try await add(item, reading.priority, deliveries: 1, to: &entries, onRefusal)
      }
      guard items.count == atOnce else { return true }
      found += items.count
    }
    return false
  }

  /// Gives back what was taken out of its turn, by another lane or by this one. - Returns: the other entries.
  private func keepTurns(
    _ items: [StreamedJob], _ priority: Priority
  ) async throws(RedisError) -> Set<String> {
    guard !items.isEmpty else { return [] }
    var command = functions.call("keep_turns", priority.rawValue)
    for item in items { command.append(item.entry) }
    return try await functions.run(command) { reply in
      Set((0..<reply.count).map { reply[$0].string })
    }
  }

  private func add(
    _ item: StreamedJob, _ priority: Priority, deliveries: Int, to entries: inout [JobEntry],
    _ onRefusal: (RefusedEntry) -> Void
  ) async throws(RedisError) {
    if let text = item.text, text.count <= Limits.jobBytesMax {
      entries.append(
        JobEntry(priority: priority, entry: item.entry, text: text, deliveries: deliveries))
    } else {
      var command = functions.call("judge_entry", consumer, priority.rawValue, item.entry)
      command.append(Limits.jobBytesMax)
      try await rows(of: command).refused.forEach(onRefusal)
    }
  }

  /// Reads on for the fleet, and waits until it knows. What fails is asked again of a lane after a while: it only orders.
  private func lookAhead(_ look: LookAhead) async {
    do throws(RedisError) {
      let answer = try await functions.connection.call(look.question(functions.keys)) {
        look.answer($0, functions)
      }
      try await functions.run(answer) { _ in }
    } catch {}
  }

  /// Reads on for the fleet, and waits for nothing.
  private func lookAheadMeanwhile(_ look: LookAhead) {
    functions.connection.send(look.question(functions.keys)) { [functions] result in
      guard case .success(let reply) = result else { return }
      functions.connection.sendFunction(look.answer(reply, functions)) { _ in }
    }
  }
}
