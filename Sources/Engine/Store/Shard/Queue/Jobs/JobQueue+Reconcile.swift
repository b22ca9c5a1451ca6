package import Redis

extension JobQueue {
  /// The jobs that are admitted and not finished, a part at a time.
  /// - Parameter cursor: "0" to begin with, then what the last call returned, until that is "0".
  package func openJobs(
    cursor: String
  ) async throws(RedisError) -> (cursor: String, jobs: [(app: String, id: String)]) {
    let reply = try await functions.connection.call(
      RedisCommand("SSCAN", functions.keys.open, cursor, "COUNT", "100"))
    guard let parts = reply.array, parts.count == 2, let next = parts[0].string else {
      throw .unexpectedReply("SSCAN")
    }
    let jobs = (parts[1].array ?? []).compactMap { member -> (app: String, id: String)? in
      let words = (member.string ?? "").split(separator: ":", maxSplits: 1)
      return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
    return (next, jobs)
  }

  /// Compares a job with what Redis has of it, and queues again what nothing knows of any more. To be called
  /// for each open job now and then, by one worker of the fleet; each call looks for some of the job's chunks.
  package func reconcile(app: String, id: String) async throws(RedisError) -> ReconcileAnswer {
    var cursor = "0"
    var worst = ReconcileAnswer.sound
    for _ in 0..<StoreLimits.reconcilePagesMax {
      let page = try await functions.run(
        functions.call("reconcile", app, id, cursor)
      ) { reply throws(RedisError) in
        try expectArray(reply, atLeast: 2)
        return (answer: try decodeWord(reply[0], as: ReconcileAnswer.self), next: reply[1].string)
      }
      switch page.answer {
      case .sound: break
      case .repaired: worst = .repaired
      // It ended in between, or grew.
      case .absent, .busy: return worst == .repaired ? .repaired : page.answer
      }
      cursor = page.next
      if cursor.isEmpty { break }
    }
    return worst
  }
}

/// The finding of a job's reconciliation.
package enum ReconcileAnswer: String, Sendable {
  case sound = "OK"
  /// Work was missing and is queued again, or the counters were off: somebody or something damaged Redis.
  case repaired = "REPAIRED"
  /// No such job, or it is finished.
  case absent = "ABSENT"
  /// There is too much work in Redis to look through it; try again later.
  case busy = "BUSY"
}

/// Passes through the open jobs, some at a time, time and again: each has its turn.
package struct OpenJobScan {
  private let jobs: JobQueue
  private var cursor = "0"
  /// Jobs of the last part that have not had their turn yet.
  private var left: ArraySlice<(app: String, id: String)> = []

  package init(jobs: JobQueue) { self.jobs = jobs }

  /// - Returns: at most `max`; fewer at the end of a part.
  package mutating func next(_ max: Int) async throws(RedisError) -> [(app: String, id: String)] {
    if left.isEmpty {
      let part = try await jobs.openJobs(cursor: cursor)
      cursor = part.cursor
      left = part.jobs[...]
    }
    defer { left = left.dropFirst(max) }
    return Array(left.prefix(max))
  }
}
