internal import Model
internal import Operations
internal import Redis
internal import Store

extension Services {
  /// Does something with the stores of a scope that only Redis can refuse, and tells a failure as a problem.
  func ask<Value: Sendable>(
    in scope: ShardScope, about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreFailure) {
      return try await session.ask(in: scope, about: subjects, body)
    } catch {
      throw Problem(error)
    }
  }

  /// Looks into the shards that are there, and tells a failure as a problem.
  /// - Parameter app: whose shard alone is looked into; nil for all.
  /// - Returns: what the body found, and the shards that it was not asked of.
  func look<Value: Sendable>(
    of app: String? = nil,
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(Problem) -> (found: Value, absences: [ShardAbsence]) {
    if let app { return (try await ask(in: .app(app), body), []) }
    let (found, present) = try await ask(in: .present) { stores throws(RedisError) in
      (try await body(stores), stores.map(\.id))
    }
    return (found, await session.absences(beside: present))
  }
}

extension APIResponse {
  /// Says which shards the answer leaves out, in a header that an answer of all shards does not have.
  func without(_ absences: [ShardAbsence]) -> APIResponse {
    guard !absences.isEmpty else { return self }
    return with(
      "pushpool-shards-left-out", absences.map(\.shard.name).joined(separator: ", "))
  }
}
