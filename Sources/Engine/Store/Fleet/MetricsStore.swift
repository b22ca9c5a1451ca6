package import Model
package import Redis

/// What dashboards and the fleet read: metrics, the timeline, the workers' beats.
package struct MetricsStore {
  let functions: StoreFunctions

  private static let minuteLifeSeconds = 2 * 86_400
  /// A day at an entry each 10 s.
  private static let timelineMax = 8_640

  /// Adds to the latency histogram of a minute.
  package func recordLatency(
    _ counts: [LatencyCount], minute: String
  ) async throws(RedisError) {
    guard !counts.isEmpty else { return }
    let key = functions.keys.latency(minute)
    for count in counts {
      functions.connection.send(
        RedisCommand(
          "HINCRBY", key, "\(count.network.rawValue)|\(count.boundMs)", String(count.count))
      ) { _ in }
    }
    _ = try await functions.connection.call(
      RedisCommand("EXPIRE", key, String(Self.minuteLifeSeconds)))
  }

  /// `<app>|<network>|<outcome>` → count of one minute, or the latency histogram's fields.
  package func minute(_ minute: String) async throws(RedisError) -> [String: Int] {
    try await counts(functions.keys.metrics(minute))
  }

  package func latency(_ minute: String) async throws(RedisError) -> [String: Int] {
    try await counts(functions.keys.latency(minute))
  }

  private func counts(_ key: String) async throws(RedisError) -> [String: Int] {
    let pairs = try await functions.connection.call(RedisCommand("HGETALL", key)).pairs
    return Dictionary(
      pairs.map { ($0, StoredNumber.count(Int($1) ?? 0)) }, uniquingKeysWith: { $1 })
  }

  /// For how long the oldest job or chunk that nobody has taken has been waiting; 0 without any.
  package func oldestWaitingMs() async throws(RedisError) -> Int {
    let answer = try await oldest([])
    guard !answer.unknown.isEmpty else { return answer.waitingMs }
    // A function takes milliseconds to copy a megabyte, and XRANGE a tenth of that.
    var found: [String] = []
    for (priority, behind) in answer.unknown {
      let command = RedisCommand(
        "XRANGE", functions.keys.jobs(priority), "(\(behind)", "+", "COUNT", "1")
      let first = try await functions.connection.call(command) { reply in
        reply.count > 0 && reply[0].count > 0 ? reply[0][0].string : nil
      }
      if let first { found += [priority.rawValue, first] }
    }
    return found.isEmpty ? answer.waitingMs : try await oldest(found).waitingMs
  }

  /// - Parameter found: priorities, each followed by the entry that is the first of it.
  /// - Returns: also behind which entry the first one is, where a function is not to look for it.
  private func oldest(
    _ found: [String]
  ) async throws(RedisError) -> (waitingMs: Int, unknown: [(Priority, behind: String)]) {
    var command = functions.call("oldest")
    for word in found { command.append(word) }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 1)
      var unknown: [(Priority, behind: String)] = []
      for index in stride(from: 1, to: reply.count - 1, by: 2) {
        unknown.append((try decodeWord(reply[index]), try decodeEntry(reply[index + 1])))
      }
      return (try decodeCount(reply[0]), unknown)
    }
  }

  /// Adds an entry to the timeline.
  package func appendTimeline(_ fields: [(String, String)]) async throws(RedisError) {
    guard !fields.isEmpty else { return }
    var command = RedisCommand(
      "XADD", functions.keys.timeline, "MAXLEN", "~", String(Self.timelineMax), "*")
    for (name, value) in fields {
      command.append(name)
      command.append(value)
    }
    _ = try await functions.connection.call(command)
  }

  /// Says that a worker lives, and how it does. - Returns: the server's time, epoch ms.
  @discardableResult
  package func beat(
    worker: String, fields: [(String, String)]
  ) async throws(RedisError) -> Int64 {
    var command = functions.call("beat", worker)
    for (name, value) in fields {
      command.append(name)
      command.append(value)
    }
    return StoredNumber.instantMs(
      Int64(try await functions.run(command, decode: decodeInteger)))
  }

  /// Takes a worker that leaves off the list.
  package func forget(worker: String) async throws(RedisError) {
    _ = try await functions.run(functions.call("forget", worker), decode: decodeInteger)
  }

  /// Every worker of the last day with its last beat (epoch ms) and, while it beats, its fields.
  package func workers() async throws(RedisError) -> [WorkerStatus] {
    let command = RedisCommand("ZRANGE", functions.keys.workers, "0", "-1", "WITHSCORES")
    var workers: [WorkerStatus] = []
    for (name, beat) in try await functions.connection.call(command).pairs {
      let fields = try await functions.connection.call(
        RedisCommand("HGETALL", functions.keys.worker(name)))
      workers.append(
        WorkerStatus(
          worker: name, lastBeatMs: StoredNumber.instantMs(Int64(beat) ?? 0),
          fields: Dictionary(fields.pairs, uniquingKeysWith: { $1 })))
    }
    return workers
  }

  /// Removes consumers that are gone: one by name, or all that were idle for so long. One with leases stays,
  /// until `reclaim` has given them to others.
  @discardableResult
  package func sweepConsumers(
    named name: String? = nil, idleMs: UInt64 = 0
  ) async throws(RedisError) -> Int {
    var command = functions.call("sweep_consumers", name ?? "")
    command.append(Int(clamping: idleMs))
    return try await functions.run(command, decode: decodeCount)
  }

  package func status() async throws(RedisError) -> QueueStatus {
    let keys = functions.keys
    var status = QueueStatus()
    for priority in Priority.allCases {
      status.jobs[priority] = try await length("XLEN", keys.jobs(priority))
      status.chunks[priority] = try await length("XLEN", keys.chunks(priority))
    }
    status.delayed = try await length("ZCARD", keys.delayed)
    status.dead = try await length("XLEN", keys.dead)
    return status
  }

  /// Chunks that workers hold now; they are among those of `status`.
  package func heldChunks() async throws(RedisError) -> [Priority: Int] {
    var held: [Priority: Int] = [:]
    for priority in Priority.allCases { held[priority] = try await heldChunks(priority) }
    return held
  }

  private func heldChunks(_ priority: Priority) async throws(RedisError) -> Int {
    do throws(RedisError) {
      return try await functions.connection.call(
        RedisCommand("XPENDING", functions.keys.chunks(priority), "workers")
      ) { $0.count > 0 ? StoredNumber.count($0[0].integer ?? 0) : 0 }
    } catch {
      // The consumer group does not exist yet.
      if case .server("NOGROUP", _) = error { return 0 }
      throw error
    }
  }

  /// The server's clock, in whole seconds since the epoch.
  package func serverSeconds() async throws(RedisError) -> Int64 {
    let time = try await functions.connection.call(RedisCommand("TIME"))
    let told = Int64(time.array?.first?.integer ?? 0)
    return min(max(told, 0), Limits.instantMsMax / 1_000)
  }

  private func length(_ command: String, _ key: String) async throws(RedisError) -> Int {
    try await functions.connection.call(RedisCommand(command, key), decode: decodeCount)
  }
}
