package import Redis

/// Credentials that the workers of a fleet share; secrets of an hour at most.
package struct CredentialStore {
  let functions: StoreFunctions

  /// Returns the credential that the fleet uses: the one that it has already, unless that is the refused one. Else it
  /// is the proposal, which the fleet has from then on, for `lifeMs`.
  package func agree(
    _ name: String, proposal: String, refused: String?, lifeMs: Int64
  ) async throws(RedisError) -> String {
    var command = functions.call("agree", name, proposal, refused ?? "")
    command.append(lifeMs)
    return try await functions.run(command) { $0.string }
  }

  /// Returns the credential that the fleet uses: the one that it has already, or else the proposal, which it has from
  /// then on. It needs no functions. A user who may not write gets what is there.
  /// - Throws: `.server` when there is none, and the user may not write one.
  package func propose(
    _ name: String, _ proposal: String, lifeMs: Int64
  ) async throws(RedisError) -> String {
    if let current = try await current(name) { return current }
    var command = RedisCommand("SET", functions.keys.credential(name), proposal, "NX", "GET", "PX")
    command.append(lifeMs)
    return try await functions.connection.call(command) { $0.isNull ? proposal : $0.string }
  }

  /// Returns the credential that the fleet uses now; nil for nothing.
  package func current(_ name: String) async throws(RedisError) -> String? {
    try await functions.connection.call(
      RedisCommand("GET", functions.keys.credential(name))
    ) { $0.isNull ? nil : $0.string }
  }
}
