package import Redis

/// The error that the body throws. Unlike `#expect(throws:)`, whose closure runs anywhere, this one stays on the
/// lane that the connection belongs to.
package func failure<Value>(_ body: () async throws -> Value) async -> RedisError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? RedisError
  }
}
