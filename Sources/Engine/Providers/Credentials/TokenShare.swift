/// Where the replicas of a fleet agree on a token: APNs refuses the provider tokens of a key that change
/// more often than every 20 minutes, whoever signs them, and Google need not be asked by every process.
package protocol TokenShare: Sendable {
  /// The token that the fleet uses for a key: the one it has already, or else the proposal, which it has
  /// from then on.
  ///
  /// Throws while the fleet cannot be asked.
  ///
  /// - Parameters:
  ///   - key: names network and key or account, without secrets.
  ///   - refused: a token that is to be used no more; if the fleet has that one, the proposal takes its place.
  ///   - lifeMs: how long the fleet keeps the proposal.
  func agree(
    key: String, proposal: SharedToken, refused: SharedToken?, lifeMs: Int64
  ) async throws(CredentialError) -> SharedToken

  /// The token that the fleet has for a key; nil for none. Throws while the fleet cannot be asked.
  func current(key: String) async throws(CredentialError) -> SharedToken?
}
