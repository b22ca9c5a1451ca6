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
}
