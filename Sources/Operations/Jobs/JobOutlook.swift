package import Model
package import Redis
package import Store

/// The forecast for a job before it is added to its stream.
package enum JobOutlook: Sendable, Equatable {
  /// Nothing speaks against it. A worker judges it when it takes it.
  case open
  /// An equal job was admitted before: to add it again does nothing.
  case repeated
  /// A worker would make a dead letter of it.
  case refused(InvalidField)

  /// Asks a store for what a worker would ask: whether the id is taken, and whether the keys that the job names are there. It
  /// only reads, needs no functions, and leaves open what the caller may not read.
  /// - Parameter digest: the job's, to tell it from another of its id.
  package static func of(
    _ job: Job, digest: String?, in store: ShardStore
  ) async throws(RedisError) -> JobOutlook {
    if let id = job.id,
      let isSame = try await answered({ () throws(RedisError) in
        try await store.jobs.isSame(digest, asRecordOf: id, app: job.app)
      })
    {
      return isSame ? .repeated : .refused(.takenName(id))
    }
    if case .usersKey(let key) = job.audience {
      switch try await type(of: key, in: store) {
      case nil, "set", "zset", "list": break
      case "none": return .refused(.unusable(usersKey: key, .keyMissing))
      default: return .refused(.unusable(usersKey: key, .keyType))
      }
    }
    if let key = job.content.variablesKey {
      switch try await type(of: key, in: store) {
      case nil, "hash": break
      case "none": return .refused(.unusable(variablesKey: key, .variablesMissing))
      default: return .refused(.unusable(variablesKey: key, .variablesType))
      }
    }
    return .open
  }

  private static func type(
    of key: String, in store: ShardStore
  ) async throws(RedisError) -> String? {
    try await answered { () throws(RedisError) in try await store.jobs.type(ofKey: key) }
  }

  /// Nil also when Redis refuses the question: an ACL, or a record of a wrong type.
  private static func answered<Value>(
    _ ask: () async throws(RedisError) -> Value?
  ) async throws(RedisError) -> Value? {
    do throws(RedisError) { return try await ask() } catch {
      if case .server = error, !error.isTemporary { return nil }
      throw error
    }
  }
}
