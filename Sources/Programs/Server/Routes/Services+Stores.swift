internal import Operations
internal import Redis
internal import Store

extension Services {
  /// Does something with the stores of all shards that only Redis can refuse, and tells a failure as a problem.
  func ask<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([ShardStore]) async throws(RedisError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreFailure) { return try await session.ask(about: subjects, body) } catch {
      throw Problem(error)
    }
  }
}
