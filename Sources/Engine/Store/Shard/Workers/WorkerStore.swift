internal import Model
package import Redis

/// The workers that the fleet knows: their beats, and the names under which they lease.
package struct WorkerStore {
  let functions: StoreFunctions

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
  package func all() async throws(RedisError) -> [WorkerStatus] {
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

  /// Every worker that has beaten since an instant of the server's clock, and what the first of them by name say of themselves.
  /// - Parameter max: of how many the fields are read.
  package func beating(
    sinceMs: Int64, max: Int
  ) async throws(RedisError) -> (count: Int, read: [WorkerStatus]) {
    let command = RedisCommand(
      "ZRANGEBYSCORE", functions.keys.workers, String(sinceMs), "+inf", "WITHSCORES")
    let beats = try await functions.connection.call(command).pairs.sorted { $0.0 < $1.0 }
    var workers: [WorkerStatus] = []
    var rest = beats.prefix(max)
    while !rest.isEmpty {
      let part = rest.prefix(StoreLimits.readAtOnce)
      rest = rest.dropFirst(part.count)
      let replies = await functions.connection.callAll(
        part.map { RedisCommand("HGETALL", functions.keys.worker($0.0)) }
      ) { RESPValue($0) }
      for ((name, beat), reply) in zip(part, replies) {
        // A key that another program has put there says nothing of the others.
        guard let fields = try readable(reply)?.pairs else { continue }
        workers.append(
          WorkerStatus(
            worker: name, lastBeatMs: StoredNumber.instantMs(Int64(beat) ?? 0),
            fields: Dictionary(fields, uniquingKeysWith: { $1 })))
      }
    }
    return (beats.count, workers)
  }

  private func readable(
    _ reply: Result<RESPValue, RedisError>
  ) throws(RedisError) -> RESPValue? {
    do throws(RedisError) { return try reply.get() } catch {
      guard case .server("WRONGTYPE", _) = error else { throw error }
      return nil
    }
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
}

/// A worker as the fleet sees it.
package struct WorkerStatus: Sendable, Equatable {
  package let worker: String
  /// Epoch milliseconds.
  package let lastBeatMs: Int64
  /// host, pid, version, lanes, in_flight…; empty when it stopped beating.
  package let fields: [String: String]

  /// Returns the worker as a clock tells of it that is so far behind the one by which it beat.
  package func byClock(behindMs: Int64) -> WorkerStatus {
    WorkerStatus(
      worker: worker, lastBeatMs: StoredNumber.instantMs(lastBeatMs &- behindMs), fields: fields)
  }
}
