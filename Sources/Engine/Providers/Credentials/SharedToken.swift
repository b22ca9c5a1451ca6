internal import Model

/// A token and its age; a secret, which no log shows.
package struct SharedToken: Sendable, Equatable, CustomStringConvertible {
  package let token: String
  package let issuedAtMs: Int64
  /// How long it is good for, where its issuer says that; else 0.
  package let lifeMs: Int64

  package init(token: String, issuedAtMs: Int64, lifeMs: Int64 = 0) {
    self.token = token
    self.issuedAtMs = issuedAtMs
    self.lifeMs = lifeMs
  }

  /// Whether its issuer's clock was so far ahead that nothing it says of its age can be believed.
  func isOfFuture(nowMs: Int64) -> Bool {
    issuedAtMs > nowMs + CredentialLimits.futureMsMax
  }

  package var description: String { "a token issued at \(issuedAtMs)" }

  /// The token as the fleet keeps it.
  package var text: String { "\(issuedAtMs) \(token)" + (lifeMs > 0 ? " \(lifeMs)" : "") }

  /// Nil when the text is nothing that `text` wrote.
  package init?(text: String) {
    let words = text.split(separator: " ")
    // Anybody may have written it: no date of it may be one that cannot be counted with.
    guard (2...3).contains(words.count), let issuedAtMs = Int64(words[0]),
      (1...Limits.instantMsMax).contains(issuedAtMs),
      words[1].utf8.count <= CredentialLimits.accessTokenBytesMax,
      words[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    var lifeMs: Int64 = 0
    if words.count == 3 {
      guard let life = Int64(words[2]), life > 0, life <= CredentialLimits.fcmTokenLifeMsMax
      else { return nil }
      lifeMs = life
    }
    self.init(token: String(words[1]), issuedAtMs: issuedAtMs, lifeMs: lifeMs)
    // What is to be replaced is compared byte by byte.
    guard self.text == text else { return nil }
  }
}

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

/// A source whose tokens the replicas of a fleet can have in common.
package protocol SharedTokenSource: CredentialSource {
  /// Agrees on tokens with the fleet from now on; with nil, this process has its own.
  func share(through share: (any TokenShare)?)
}
