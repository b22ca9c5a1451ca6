internal import Model
package import Redis

/// Which apps, networks and environments the workers of the fleet can send to, and the work that waits for a worker that
/// can.
package struct RouteStore {
  let functions: StoreFunctions

  /// Says that a worker of this configuration lives, and looks after what waits; publishes the configuration if Redis does
  /// not have it. To be called each second.
  /// - Parameters:
  ///   - waitMs: how long work waits for a worker, before it becomes a dead letter.
  ///   - retentionSeconds: how long the records of jobs are kept that are given up.
  package func announce(
    _ routes: RouteTable, waitMs: UInt64, retentionSeconds: Int = StoreLimits.recordSeconds
  ) async throws(RedisError) -> RouteNews {
    let lifeSeconds = waitMs / 1_000 + StoreLimits.routesSpareSeconds
    // Published once, it is known, unless somebody removes it in between.
    for isLast in [false, true] {
      var command = functions.call("announce_routes", routes.digest)
      command.append(Int(clamping: waitMs))
      command.append(Int(clamping: lifeSeconds))
      command.append(retentionSeconds)
      let news = try await functions.run(command) { reply throws(RedisError) -> RouteNews? in
        try expectArray(reply, atLeast: 1)
        guard reply[0].string != "UNKNOWN" else { return nil }
        try expectArray(reply, atLeast: 4)
        return RouteNews(
          hasWork: try decodeInteger(reply[1]) > 0,
          isAnythingWaiting: try decodeInteger(reply[2]) > 0,
          isGathering: try decodeInteger(reply[3]) > 0,
          digests: (4..<reply.count).map { reply[$0].string })
      }
      if let news { return news }
      if !isLast { try await publish(routes, lifeSeconds: lifeSeconds) }
    }
    throw .unexpectedReply("announce_routes")
  }

  private func publish(_ routes: RouteTable, lifeSeconds: UInt64) async throws(RedisError) {
    var command = functions.call("publish_routes", routes.digest)
    command.append(Int(clamping: lifeSeconds))
    for (app, places) in routes.fields {
      command.append(app)
      command.append(places)
    }
    _ = try await functions.run(command) { $0.string }
  }

  /// Returns the routes that the workers of a configuration can send to; empty when that is not known any more.
  package func table(_ digest: String) async throws(RedisError) -> RouteTable {
    let key = functions.keys.routes(digest)
    return RouteTable(
      fields: try await functions.connection.call(RedisCommand("HGETALL", key)).pairs)
  }

  // MARK: What waits

  /// Has a chunk wait for a worker that has its app. - Returns: false when it belongs to another worker now.
  @discardableResult
  package func passOn(
    _ claim: ChunkClaim, consumer: String, waitMs: UInt64
  ) async throws(RedisError) -> Bool {
    var command = functions.call("pass_on_chunk", consumer, claim.priority.rawValue, claim.entry)
    command.append(Int(clamping: waitMs))
    return try await functions.run(command) { $0.string == WorkStanding.ok.rawValue }
  }

  /// Ends jobs here that were added in the shards where their apps live, in one pipeline.
  /// - Parameter jobs: each with its app and the id that it had here.
  /// - Returns: for each whether it was the consumer's to end, or why that is not known.
  package func handOver(
    _ jobs: [(entry: JobEntry, app: String, id: String)], consumer: String
  ) async -> [Result<Bool, RedisError>] {
    let commands = jobs.map { job in
      functions.call(
        "hand_over_job", consumer, job.entry.priority.rawValue, job.entry.entry, job.app, job.id)
    }
    return await functions.run(commands) { $0.string == WorkStanding.ok.rawValue }
  }

  /// Has jobs wait for a worker that has their app, in one pipeline.
  /// - Returns: the answer to each, or why there is none.
  package func passOn(
    _ jobs: [JobOfUnknownApp], consumer: String, waitMs: UInt64
  ) async -> [Result<PassOnAnswer, RedisError>] {
    let commands = jobs.map { job in
      var command = functions.call(
        "pass_on_job", consumer, job.entry.priority.rawValue, job.entry.entry, job.app, job.id,
        job.suggestion ?? "")
      command.append(Int(clamping: waitMs))
      command.append(Int(clamping: job.expiresAtMs ?? 0))
      return command
    }
    return await functions.run(commands) { reply throws(RedisError) in try decodeWord(reply) }
  }

  /// Leases jobs that wait for a worker of this configuration.
  package func takeJobs(
    consumer: String, digest: String, max: Int
  ) async throws(RedisError) -> [JobEntry] {
    var command = functions.call("take_routed", consumer, digest)
    command.append(max)
    let taking = JobTaking(functions: functions, consumer: consumer)
    return try await taking.take(by: command)
  }

  /// Leases chunks that wait for a worker of this configuration.
  package func claim(
    consumer: String, digest: String, max: Int
  ) async throws(RedisError) -> [ChunkClaim] {
    var command = functions.call("claim_routed", consumer, digest)
    command.append(max)
    return try await functions.run(command, decode: ChunkClaim.list)
  }
}

/// The news for a worker that says which routes it has.
package struct RouteNews: Sendable, Equatable {
  /// Whether something waits that this worker has a route for.
  package let hasWork: Bool
  package let isAnythingWaiting: Bool
  /// Whether the fleet has only just begun: which routes others have is not known yet.
  package let isGathering: Bool
  /// The configurations of the workers that live, or did so lately; its own among them.
  package let digests: [String]

  package init(hasWork: Bool, isAnythingWaiting: Bool, isGathering: Bool, digests: [String]) {
    self.hasWork = hasWork
    self.isAnythingWaiting = isAnythingWaiting
    self.isGathering = isGathering
    self.digests = digests
  }
}

/// A job whose app a worker does not have.
package struct JobOfUnknownApp: Sendable {
  package let entry: JobEntry
  package let app: String
  package let id: String
  /// A known app that may have been meant.
  package let suggestion: String?
  /// Epoch milliseconds; nil when it does not expire.
  package let expiresAtMs: Int64?

  package init(
    entry: JobEntry, app: String, id: String, suggestion: String?, expiresAtMs: Int64? = nil
  ) {
    self.entry = entry
    self.app = app
    self.id = id
    self.suggestion = suggestion
    self.expiresAtMs = expiresAtMs
  }
}

/// Redis's answer about a job whose app a worker does not have.
package enum PassOnAnswer: String, Sendable {
  case ok = "OK"
  /// The job belongs to another worker.
  case stale = "STALE"
  /// No worker has the app, and the jobs of too many such apps wait already.
  case full = "FULL"
}
