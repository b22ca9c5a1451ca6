internal import Operations
internal import Redis
internal import Store

extension Services {
  /// Does something with the stores of the fleet that only Redis can refuse, and tells a failure as a problem.
  func ask<Value: Sendable>(
    about subjects: [KeySubject] = [],
    _ body: @Sendable ([Store]) async throws(RedisError) -> Value
  ) async throws(Problem) -> Value {
    try await operate(about: subjects) { stores throws(OperationError) in
      do throws(RedisError) { return try await body(stores) } catch { throw .redis(error) }
    }
  }
}
