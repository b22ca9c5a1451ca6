internal import Redis
internal import Store

// The fleet's tokens, over this lane's connection to the fleet's home.
extension Lane: TokenAgreement {
  func agree(
    _ name: String, proposal: String, refused: String?, lifeMs: Int64
  ) async throws(RedisError) -> String {
    guard hasShard else { throw Self.ofUnknownShard }
    return try await fleet.credentials.agree(
      name, proposal: proposal, refused: refused, lifeMs: lifeMs)
  }

  func agreed(_ name: String) async throws(RedisError) -> String? {
    guard hasShard else { throw Self.ofUnknownShard }
    return try await fleet.credentials.current(name)
  }
}
