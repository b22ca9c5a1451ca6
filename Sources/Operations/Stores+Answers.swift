internal import Redis
internal import Store

extension [Store] {
  /// Asks one store after another until one knows the answer.
  func firstAnswer<Value>(
    _ ask: (Store) async throws(RedisError) -> Value?
  ) async throws(RedisError) -> Value? {
    for store in self {
      if let answer = try await ask(store) { return answer }
    }
    return nil
  }
}
