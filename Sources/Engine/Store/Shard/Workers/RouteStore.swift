package import Model
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
      command.append(routes.redisApps.count)
      command.append(routes.fields.isEmpty ? 0 : 1)
      let news = try await functions.run(command) { reply throws(RedisError) -> RouteNews? in
        try expectArray(reply, atLeast: 1)
        guard reply[0].string != "UNKNOWN" else { return nil }
        try expectArray(reply, atLeast: 5)
        let tables = (5..<reply.count).map { reply[$0].string }
        return RouteNews(
          hasWork: try decodeInteger(reply[1]) > 0,
          isAnythingWaiting: try decodeInteger(reply[2]) > 0,
          isGathering: try decodeInteger(reply[3]) > 0,
          hasRedisApps: try decodeInteger(reply[4]) > 0,
          isSharing: tables.contains(RouteTable.ofRedisApps),
          digests: tables.filter { $0 != RouteTable.ofRedisApps })
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

  // MARK: Apps that stand in Redis

  /// The places of the apps that stand in Redis, as the workers that have them share them.
  package func redisApps() async throws(RedisError) -> [String: String] {
    let key = functions.keys.routes(RouteTable.ofRedisApps)
    let pairs = try await functions.connection.call(RedisCommand("HGETALL", key)).pairs
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  /// The places of some of them, in their order; nil for an app that none of these workers has.
  package func redisApps(_ apps: [String]) async throws(RedisError) -> [String?] {
    guard !apps.isEmpty else { return [] }
    var command = RedisCommand("HMGET", functions.keys.routes(RouteTable.ofRedisApps))
    for app in apps { command.append(app) }
    return try await functions.connection.call(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: apps.count)
      return (0..<apps.count).map { reply[$0].isNull ? nil : reply[$0].string }
    }
  }

  /// A page of the apps that stand in Redis, in no order, with their places. What is there throughout comes up on one of the pages.
  /// - Parameter cursor: of the page before; nil for the first.
  /// - Returns: the page, and where the next one begins; nil at the end.
  package func redisAppsPage(
    after cursor: String?
  ) async throws(RedisError) -> (places: [(app: String, places: String)], cursor: String?) {
    let command = RedisCommand(
      "HSCAN", functions.keys.routes(RouteTable.ofRedisApps), cursor ?? "0", "COUNT",
      String(StoreLimits.appsPage))
    return try await functions.connection.call(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: 2)
      let fields = reply[1]
      guard fields.kind == .array, fields.count.isMultiple(of: 2) else {
        throw .unexpectedReply("HSCAN has no fields")
      }
      let next = reply[0].string
      return (
        stride(from: 0, to: fields.count, by: 2).map {
          (app: fields[$0].string, places: fields[$0 + 1].string)
        }, next == "0" ? nil : next
      )
    }
  }

  /// Says where apps that stand in Redis can be sent to. Plain commands alone: what is said twice is the same.
  /// - Parameter places: by app, as a `RouteTable` has them.
  package func add(
    redisApps places: [String: String], waitMs: UInt64
  ) async throws(RedisError) {
    let key = functions.keys.routes(RouteTable.ofRedisApps)
    let all = Array(places)
    for first in stride(from: 0, to: all.count, by: StoreLimits.routesWrittenAtOnce) {
      var command = RedisCommand("HSET", key)
      for (app, places) in all[first..<min(first + StoreLimits.routesWrittenAtOnce, all.count)] {
        command.append(app)
        command.append(places)
      }
      _ = try await functions.connection.call(command, decode: decodeInteger)
    }
    guard !all.isEmpty else { return }
    let lifeSeconds = waitMs / 1_000 + StoreLimits.routesSpareSeconds
    _ = try await functions.connection.call(
      RedisCommand("EXPIRE", key, String(lifeSeconds)), decode: decodeInteger)
  }

  /// Says that apps stand in Redis no more.
  package func remove(redisApps apps: [String]) async throws(RedisError) {
    let key = functions.keys.routes(RouteTable.ofRedisApps)
    for first in stride(from: 0, to: apps.count, by: StoreLimits.routesWrittenAtOnce) {
      var command = RedisCommand("HDEL", key)
      for app in apps[first..<min(first + StoreLimits.routesWrittenAtOnce, apps.count)] {
        command.append(app)
      }
      _ = try await functions.connection.call(command, decode: decodeInteger)
    }
  }

  /// Whether a worker that lives has the app in its configuration file.
  /// - Parameters:
  ///   - nowMs: by the server's clock.
  ///   - orLeavesOut: whether an app counts, too, that a worker leaves out. It may be one that stands in Redis.
  package func isConfigured(
    _ app: String, nowMs: Int64, orLeavesOut: Bool
  ) async throws(RedisError) -> Bool {
    let connection = functions.connection
    let command = RedisCommand(
      "ZREVRANGEBYSCORE", functions.keys.routes, "+inf",
      String(nowMs - StoreLimits.routesAliveMs), "LIMIT", "0", String(StoreLimits.routeTablesMax))
    for digest in try await connection.call(command).array?.compactMap(\.string) ?? []
    where digest != RouteTable.ofRedisApps {
      let key = functions.keys.routes(digest)
      let value = try await connection.call(RedisCommand("HGET", key, app)) {
        $0.isNull ? nil : $0.string
      }
      if let value, orLeavesOut || value != RouteTable.leftOut { return true }
    }
    return false
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

  /// Ends jobs here that were added in the shards where their apps live, or were cancelled before, in one pipeline.
  /// - Parameters:
  ///   - jobs: each with its app and the id that it had here.
  ///   - retentionSeconds: how long the record of a cancelled one is kept.
  /// - Returns: for each whether it was the consumer's to end, or why that is not known.
  package func handOver(
    _ jobs: [(entry: JobEntry, app: String, id: String)], consumer: String,
    retentionSeconds: Int = StoreLimits.recordSeconds
  ) async -> [Result<Bool, RedisError>] {
    let commands = jobs.map { job in
      var command = functions.call(
        "hand_over_job", consumer, job.entry.priority.rawValue, job.entry.entry, job.app, job.id)
      command.append(retentionSeconds)
      return command
    }
    return await functions.run(commands) { $0.string == WorkStanding.ok.rawValue }
  }

  /// Returns the states in which operators have put jobs that were not taken in: paused or cancelled, nil for any other.
  package func states(
    of jobs: [(entry: JobEntry, app: String, id: String)]
  ) async throws(RedisError) -> [JobState?] {
    let commands = jobs.map { job in
      RedisCommand(
        "HMGET", functions.keys.job(app: job.app, id: job.id), "source", "admitted", "state")
    }
    let answers = await functions.connection.callAll(commands) { reply throws(RedisError) in
      try expectArray(reply, exactly: 3)
      return (0..<3).map { reply[$0].isNull ? nil : reply[$0].string }
    }
    var states: [JobState?] = []
    for (job, answer) in zip(jobs, answers) {
      // What stands there instead of a record says nothing of the job.
      if case .failure(.server("WRONGTYPE", _)) = answer {
        states.append(nil)
        continue
      }
      let record = try answer.get()
      let state = record[2].flatMap { JobState(rawValue: $0) }
      let isIts = record[0] == job.entry.source && record[1] == nil
      states.append(isIts && (state == .paused || state == .cancelled) ? state : nil)
    }
    return states
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
      if let id = job.givenID { command.append(id) }
      return command
    }
    return await functions.run(commands) { reply throws(RedisError) in try decodeWord(reply) }
  }

  /// Leases jobs that wait for a worker that has these routes.
  package func takeJobs(
    consumer: String, for routes: RouteTable, max: Int
  ) async throws(RedisError) -> [JobEntry] {
    var command = functions.call("take_routed", consumer, routes.digest)
    command.append(max)
    command.append(routes.redisApps.isEmpty ? 0 : 1)
    let taking = JobTaking(functions: functions, consumer: consumer)
    return try await taking.take(by: command)
  }

  /// The apps and routes that something waits for and that no live worker has.
  package func unrouted() async throws(RedisError) -> [String] {
    let command = RedisCommand(
      "ZRANGE", functions.keys.unrouted, "0", String(StoreLimits.routesWaitedForMax - 1))
    return try await functions.connection.call(command).array?.compactMap(\.string) ?? []
  }

  /// Leases jobs of these apps that wait for a worker with them, but for those that are paused.
  /// - Parameter pass: how many calls before found none: where many are paused, each looks at others.
  package func takeJobs(
    consumer: String, of apps: [String], max: Int, pass: Int = 0
  ) async throws(RedisError) -> [JobEntry] {
    var command = functions.call("take_waiting", consumer)
    command.append(max)
    command.append(pass)
    for app in apps { command.append(app) }
    let taking = JobTaking(functions: functions, consumer: consumer)
    return try await taking.take(by: command)
  }

  /// Leases chunks that wait for a worker that has these routes.
  package func claim(
    consumer: String, for routes: RouteTable, max: Int
  ) async throws(RedisError) -> [ChunkClaim] {
    var command = functions.call("claim_routed", consumer, routes.digest)
    command.append(max)
    command.append(routes.redisApps.isEmpty ? 0 : 1)
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
  /// Whether Redis knows of all apps of Redis that this worker has: else they are to be said anew.
  package let hasRedisApps: Bool
  /// Whether a worker that lives, or did so lately, has apps of Redis.
  package let isSharing: Bool
  /// The configurations of the workers that live, or did so lately; its own among them.
  package let digests: [String]

  package init(
    hasWork: Bool, isAnythingWaiting: Bool, isGathering: Bool, hasRedisApps: Bool = true,
    isSharing: Bool = false, digests: [String]
  ) {
    self.hasWork = hasWork
    self.isAnythingWaiting = isAnythingWaiting
    self.isGathering = isGathering
    self.hasRedisApps = hasRedisApps
    self.isSharing = isSharing
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
  /// The id that a job without one has in the shard of its app. A dead letter of it has that id in its text: retried, it is the
  /// same job there.
  package let givenID: String?

  package init(
    entry: JobEntry, app: String, id: String, suggestion: String?, expiresAtMs: Int64? = nil,
    givenID: String? = nil
  ) {
    self.givenID = givenID
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
