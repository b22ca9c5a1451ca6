internal import Providers
internal import Redis

/// A connection to the fleet's Redis, over which workers agree on tokens by name.
protocol TokenAgreement: Sendable {
  /// The token that all use from now on: the proposal, or what another has proposed before.
  /// - Parameters:
  ///   - refused: a token that its network takes no more; nil when none was refused.
  ///   - lifeMs: how long the proposal may be used.
  func agree(
    _ name: String, proposal: String, refused: String?, lifeMs: Int64
  ) async throws(RedisError) -> String
  /// The token that all use; nil when there is none.
  func agreed(_ name: String) async throws(RedisError) -> String?
}

/// Agrees on provider and bearer tokens through the fleet's Redis.
struct FleetCredentials: TokenShare {
  /// How soon to ask again when Redis could not be asked.
  private static let retryMs: Int64 = 1_000

  let connection: any TokenAgreement
  let clock: FleetClock

  func agree(
    key: String, proposal: SharedToken, refused: SharedToken?, lifeMs: Int64
  ) async throws(CredentialError) -> SharedToken {
    let text: String
    do throws(RedisError) {
      let found = try await connection.agree(
        key, proposal: proposal.text, refused: refused?.text, lifeMs: lifeMs)
      if let token = SharedToken(text: found) { return token }
      // Something else under the key is nobody's token.
      text = try await connection.agree(
        key, proposal: proposal.text, refused: found, lifeMs: lifeMs)
    } catch { throw failure(error) }
    return SharedToken(text: text) ?? proposal
  }

  func current(key: String) async throws(CredentialError) -> SharedToken? {
    do throws(RedisError) {
      return try await connection.agreed(key).flatMap { SharedToken(text: $0) }
    } catch { throw failure(error) }
  }

  private func failure(_ error: RedisError) -> CredentialError {
    CredentialError(
      reason: "the fleet's token cannot be read: \(error)",
      resumeAtMs: clock.nowMs + Self.retryMs)
  }
}
