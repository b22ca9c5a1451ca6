internal import Model
internal import Reactor
internal import Redis
internal import Store

// Whose the tokens are by now that a push is sent to once more.
extension BindingResolver {
  /// A token, and whose it should be; the user is empty where anybody's will do.
  typealias Wanted = (
    network: Network, token: UnsafeRawBufferPointer, user: UnsafeRawBufferPointer
  )

  /// The bindings of many tokens; nil for nil, and for tokens that nobody has. And since when they count as read, in the loop's
  /// time.
  func bindings(
    app: String, of tokens: [Wanted?]
  ) async throws(RedisError) -> (found: [TokenBinding?], readNs: UInt64) {
    let askedNs = loop.nowNs
    // Nearly all are still their users', of whom many are read at once.
    var found = try await bindingsOfUsers(app: app, of: tokens)
    let readNs = freshNs(askedNs)
    let others = tokens.indices.filter { tokens[$0] != nil && found[$0] == nil }
    guard !others.isEmpty else { return (found, readNs) }
    let areAll = found.allSatisfy { $0 == nil }
    try await withReplies(others.count) { finish in
      for index in others {
        guard let token = tokens[index] else { continue }
        store.installations.resolve(app: app, network: token.network, token: token.token) {
          finish($0.map { found[index] = $0 })
        }
      }
    }
    return (found, areAll ? freshNs(askedNs) : readNs)
  }

  /// The bindings of those tokens that are whose they should be.
  private func bindingsOfUsers(
    app: String, of tokens: [Wanted?]
  ) async throws(RedisError) -> [TokenBinding?] {
    var found = [TokenBinding?](repeating: nil, count: tokens.count)
    // A user's devices are neighbours.
    var users: [UnsafeRawBufferPointer] = []
    var places = [Int?](repeating: nil, count: tokens.count)
    for (index, token) in tokens.enumerated() {
      guard let token, !token.user.isEmpty else { continue }
      if users.last.map({ !$0.elementsEqual(token.user) }) ?? true { users.append(token.user) }
      places[index] = users.count - 1
    }
    guard !users.isEmpty else { return found }
    let firsts = Array(stride(from: 0, to: users.count, by: WorkerLimits.resolveBatchMax))
    try await withReplies(firsts.count) { finish in
      for first in firsts {
        let asked = first..<min(first + WorkerLimits.resolveBatchMax, users.count)
        store.installations.resolve(app: app, users: users[asked]) { result in
          finish(
            result.map { resolved in
              for (index, token) in tokens.enumerated() {
                guard let token, let place = places[index], asked.contains(place) else { continue }
                found[index] = resolved[place - first].first {
                  $0.network == token.network && $0.token.elementsEqual(token.token)
                }.map { TokenBinding($0, of: token.user) }
              }
            })
        }
      }
    }
    return found
  }
}
