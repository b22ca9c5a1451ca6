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

  /// Returns the credential that the fleet uses now; nil for nothing.
  package func current(_ name: String) async throws(RedisError) -> String? {
    try await functions.connection.call(
      RedisCommand("GET", functions.keys.credential(name))
    ) { $0.isNull ? nil : $0.string }
  }
}
