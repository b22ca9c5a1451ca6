internal import Model
internal import Redis
internal import Store

// The bindings of single tokens.
extension BindingResolver {
  /// The bindings of many tokens; nil for nil, and for tokens that nobody has.
  func bindings(
    app: String, of tokens: [(network: Network, token: UnsafeRawBufferPointer)?]
  ) async throws(RedisError) -> [TokenBinding?] {
    var found: [TokenBinding?] = []
    found.reserveCapacity(tokens.count)
    // A connection takes no more than so many commands, and would refuse all of them each time.
    for first in stride(from: 0, to: tokens.count, by: WorkerLimits.bindingsAskedMax) {
      let part = tokens[first..<min(first + WorkerLimits.bindingsAskedMax, tokens.count)]
      found += try await bindings(app: app, together: part)
    }
    return found
  }

  /// The bindings of so many tokens that one pipeline asks for them.
  private func bindings(
    app: String, together tokens: ArraySlice<(network: Network, token: UnsafeRawBufferPointer)?>
  ) async throws(RedisError) -> [TokenBinding?] {
    var found = [TokenBinding?](repeating: nil, count: tokens.count)
    var failure: RedisError?
    var left = tokens.count { $0 != nil }
    guard left > 0 else { return found }
    try await withReply { finish in
      for (index, token) in tokens.enumerated() {
        guard let token else { continue }
        store.installations.resolve(app: app, network: token.network, token: token.token) {
          switch $0 {
          case .success(let binding): found[index] = binding
          case .failure(let error): failure = failure ?? error
          }
          left -= 1
          if left == 0 { finish(failure.map { .failure($0) } ?? .success(())) }
        }
      }
    }
    return found
  }
}
