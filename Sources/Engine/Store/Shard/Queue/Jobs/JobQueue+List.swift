package import Model
package import Redis

extension JobQueue {
  /// How many jobs are admitted and not finished.
  package func openCount() async throws(RedisError) -> Int {
    try await functions.connection.call(
      RedisCommand("SCARD", functions.keys.open), decode: decodeCount)
  }

  /// The records of jobs, in one trip; those that are gone are left out.
  package func records(
    _ jobs: [(app: String, id: String)]
  ) async throws(RedisError) -> [JobRecord] {
    guard !jobs.isEmpty else { return [] }
    let connection = functions.connection
    let replies: [Result<RESPValue, RedisError>] = await withUnsafeContinuation { continuation in
      var replies: [Result<RESPValue, RedisError>] = []
      for job in jobs {
        connection.send(RedisCommand("HGETALL", functions.keys.job(app: job.app, id: job.id))) {
          replies.append($0.map { RESPValue($0) })
          if replies.count == jobs.count { continuation.resume(returning: replies) }
        }
      }
    }
    var records: [JobRecord] = []
    for (job, reply) in zip(jobs, replies) {
      // One that somebody else has written says nothing of the others.
      if case .failure(.server("WRONGTYPE", _)) = reply { continue }
      let fields = try reply.get().pairs
      guard !fields.isEmpty,
        let record = try? JobRecord(app: job.app, id: job.id, fields: fields)
      else { continue }
      records.append(record)
    }
    return records
  }

  /// The states of jobs and what is left to do of each, in one trip for some hundred of them; those that are gone are left out.
  package func standings(
    _ jobs: [(app: String, id: String)]
  ) async throws(RedisError) -> [JobStanding] {
    var standings: [JobStanding] = []
    var rest = jobs[...]
    while !rest.isEmpty {
      let part = rest.prefix(StoreLimits.readAtOnce)
      rest = rest.dropFirst(part.count)
      let replies = await functions.connection.callAll(
        part.map { job in
          var command = RedisCommand("HMGET", functions.keys.job(app: job.app, id: job.id))
          for name in JobStanding.fields { command.append(name) }
          return command
        }
      ) { RESPValue($0) }
      for (job, reply) in zip(part, replies) {
        do throws(RedisError) {
          let values = (try reply.get().array ?? []).map(\.string)
          guard let standing = JobStanding(app: job.app, id: job.id, values) else { continue }
          standings.append(standing)
        } catch {
          // A record that another program has written says nothing of the others.
          guard case .server("WRONGTYPE", _) = error else { throw error }
        }
      }
    }
    return standings
  }

  /// Returns the records of the jobs that ended last, the last first.
  package func ended(max: Int) async throws(RedisError) -> [JobRecord] {
    try await endedEntries(before: nil, max: max).compactMap(\.job)
  }

  /// Returns those of one app, the last first. Others may have ended many more since: as many entries are looked at as
  /// `StoreLimits.endedLookedMax` says.
  package func ended(of app: String, max: Int) async throws(RedisError) -> [JobRecord] {
    var jobs: [JobRecord] = []
    var last: String?
    var looked = 0
    repeat {
      let entries = try await endedEntries(before: last, max: StoreLimits.endedAtOnce)
      jobs += entries.compactMap(\.job).filter { $0.app == app }
      looked += entries.count
      last = entries.count < StoreLimits.endedAtOnce ? nil : entries.last?.entry
    } while last != nil && jobs.count < max && looked < StoreLimits.endedLookedMax
    return Array(jobs.prefix(max))
  }

  /// - Returns: what is known of the job of each entry; nil where that makes no sense.
  private func endedEntries(
    before: String?, max: Int
  ) async throws(RedisError) -> [(entry: String, job: JobRecord?)] {
    let reply = try await functions.connection.call(
      RedisCommand(
        "XREVRANGE", functions.keys.finished, before.map { "(\($0)" } ?? "+", "-", "COUNT",
        String(max)))
    return (reply.array ?? []).compactMap { entry in
      guard let parts = entry.array, parts.count == 2, let id = parts[0].string else { return nil }
      return (id, Self.ended(parts[1]))
    }
  }

  private static func ended(_ notice: RESPValue) -> JobRecord? {
    // A notice leaves empty what its job did not come to: one that was cancelled before it began has no start.
    let fields = notice.pairs.filter { !$0.1.isEmpty }
    let named = Dictionary(fields, uniquingKeysWith: { $1 })
    guard let app = named["app"], let id = named["id"] else { return nil }
    var record = try? JobRecord(app: app, id: id, fields: fields)
    record?.isAdmitted = true
    return record
  }
}
