/// Loads the functions where they are missing; loop-bound.
final class LibraryLoader {
  let library: FunctionLibrary
  /// Whether a connection is of no use without them.
  let isNeeded: Bool
  /// The callers that wait for the functions to be loaded.
  private var waiters: [(RedisError?) -> Void] = []

  init(_ library: FunctionLibrary, isNeeded: Bool) {
    self.library = library
    self.isNeeded = isNeeded
  }

  /// Loads them, once for all who ask meanwhile; calls back with nil when they are there.
  func load(over link: RedisLink, _ done: @escaping (RedisError?) -> Void) {
    waiters.append(done)
    guard waiters.count == 1 else { return }
    link.write(RedisCommand("FUNCTION", "LOAD", library.source)) { [self] result in
      let waiters = self.waiters
      self.waiters = []
      let failure = Self.failure(result)
      for waiter in waiters { waiter(failure) }
    }
  }

  private static func failure(_ result: Result<RedisReply, RedisError>) -> RedisError? {
    switch result {
    case .success: nil
    // Another worker was faster; the version in the name says that it is the same source.
    case .failure(.server(_, let message)) where message.contains("already exists"): nil
    case .failure(let error): error
    }
  }
}
