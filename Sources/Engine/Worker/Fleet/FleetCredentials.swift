internal import Providers
internal import Redis
internal import Store

/// Agrees on provider and bearer tokens through the fleet's Redis, over a lane's connection.
struct FleetCredentials: TokenShare {
  /// How soon to ask again when Redis could not be asked.
  private static let retryMs: Int64 = 1_000

  let lane: Lane

  func agree(
    key: String, proposal: SharedToken, refused: SharedToken?, lifeMs: Int64
  ) async throws(CredentialError) -> SharedToken {
    let text: String
    do throws(RedisError) {
      let found = try await lane.agree(
        key, proposal: proposal.text, refused: refused?.text, lifeMs: lifeMs)
      if let token = SharedToken(text: found) { return token }
      // Something else under the key is nobody's token.
      text = try await lane.agree(key, proposal: proposal.text, refused: found, lifeMs: lifeMs)
    } catch { throw failure(error) }
    return SharedToken(text: text) ?? proposal
  }

  func current(key: String) async throws(CredentialError) -> SharedToken? {
    do throws(RedisError) {
      return try await lane.agreed(key).flatMap { SharedToken(text: $0) }
    } catch { throw failure(error) }
  }

  private func failure(_ error: RedisError) -> CredentialError {
    CredentialError(
      reason: "the fleet's token cannot be read: \(error)",
      resumeAtMs: lane.settings.clock.nowMs + Self.retryMs)
  }
}

extension Lane {
  func agree(
    _ name: String, proposal: String, refused: String?, lifeMs: Int64
  ) async throws(RedisError) -> String {
    try await store.credentials.agree(name, proposal: proposal, refused: refused, lifeMs: lifeMs)
  }

  func agreed(_ name: String) async throws(RedisError) -> String? {
    try await store.credentials.current(name)
  }
}
