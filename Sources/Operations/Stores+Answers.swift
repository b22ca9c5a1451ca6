internal import Redis
internal import Store

extension [ShardStore] {
  /// Asks one store after another until one knows the answer.
  func firstAnswer<Value>(
    _ ask: (ShardStore) async throws(RedisError) -> Value?
  ) async throws(RedisError) -> Value? {
    for store in self {
      if let answer = try await ask(store) { return answer }
    }
    return nil
  }
}

/// Reads what is shown of a key: nothing where it holds another type, of which an alarm tells (`KeyTypes`).
func readable<Value>(
  _ nothing: Value, _ read: () async throws(RedisError) -> Value
) async throws(RedisError) -> Value {
  do throws(RedisError) { return try await read() } catch {
    guard case .server("WRONGTYPE", _) = error else { throw error }
    return nothing
  }
}
