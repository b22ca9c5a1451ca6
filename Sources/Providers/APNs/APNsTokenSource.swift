import Model
import Synchronization

/// Provider tokens of one APNs key: an ES256 JSON Web Token, renewed after 50 minutes and never twice in 20.
///
/// A refused token is renewed when the last renewal is at least 20 minutes ago; otherwise the credential
/// pauses until then, because APNs answers more renewals with TooManyProviderTokenUpdates.
package final class APNsTokenSource: CredentialSource {
  private struct Issued {
    var credential: Credential
    var issuedAtMs: Int64
    /// APNs said no to it; it is not handed out again.
    var isRefused = false
  }

  private struct State {
    var issued: Issued?
    var generation: UInt64 = 0
    var pause: CredentialError?
  }

  private let key: SigningKey
  private let keyID: String
  private let teamID: String
  private let clock: WallClock
  private let state = Mutex(State())

  /// - Parameters:
  ///   - keyID: the key's 10-character identifier, the token's `kid`.
  ///   - teamID: the 10-character team identifier, the token's `iss`.
  package init(key: SigningKey, keyID: String, teamID: String, clock: WallClock = .system) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    self.clock = clock
  }

  package func current() async throws(CredentialError) -> Credential {
    try locked { (state) throws(CredentialError) in
      let nowMs = clock.nowMs()
      try Self.checkPause(&state, nowMs)
      if let issued = state.issued, !issued.isRefused, isFresh(issued, nowMs) {
        return issued.credential
      }
      return try renew(&state, nowMs)
    }
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    try locked { (state) throws(CredentialError) in
      let nowMs = clock.nowMs()
      try Self.checkPause(&state, nowMs)
      guard var issued = state.issued else { return try renew(&state, nowMs) }
      if issued.credential.generation != generation, !issued.isRefused { return issued.credential }
      let isTooManyUpdates = reason == APNsReason.tooManyProviderTokenUpdates.rawValue
      let renewableAtMs = issued.issuedAtMs + CredentialLimits.apnsRefreshIntervalMsMin
      if !isTooManyUpdates {
        issued.isRefused = true
        state.issued = issued
        if renewableAtMs <= nowMs { return try renew(&state, nowMs) }
      }
      let pause = CredentialError(
        reason: sentence(about: reason),
        resumeAtMs: renewableAtMs > nowMs
          ? renewableAtMs : nowMs + CredentialLimits.apnsRefreshIntervalMsMin)
      state.pause = pause
      throw pause
    }
  }

  private func isFresh(_ issued: Issued, _ nowMs: Int64) -> Bool {
    // A clock that was set back makes `iat` lie in the future, which APNs refuses.
    let ageMs = nowMs - issued.issuedAtMs
    return ageMs < CredentialLimits.apnsRefreshAfterMs
      && ageMs > -CredentialLimits.apnsRefreshIntervalMsMin
  }

  private static func checkPause(_ state: inout State, _ nowMs: Int64) throws(CredentialError) {
    guard let pause = state.pause else { return }
    let remainingMs = pause.resumeAtMs - nowMs
    // Longer than any pause can be: the clock was set back.
    if remainingMs > 0, remainingMs <= CredentialLimits.apnsRefreshIntervalMsMin { throw pause }
    state.pause = nil
  }

  private func renew(_ state: inout State, _ nowMs: Int64) throws(CredentialError) -> Credential {
    // Whole seconds, rounded down: `iat` must not lie in the future.
    let issuedAtSeconds = nowMs / 1_000
    let token: String
    do throws(CredentialFileError) {
      token = try JSONWebToken.make(
        keyID: keyID, claims: ["iss": .string(teamID), "iat": .integer(issuedAtSeconds)], key: key)
    } catch {
      throw CredentialError(
        reason: error.description, resumeAtMs: nowMs + CredentialLimits.apnsRefreshIntervalMsMin)
    }
    state.generation += 1
    let credential = Credential(
      header: "bearer \(token)", generation: state.generation,
      expiresAtMs: nowMs + CredentialLimits.apnsTokenLifeMs,
      refreshAtMs: nowMs + CredentialLimits.apnsRefreshAfterMs)
    state.issued = Issued(credential: credential, issuedAtMs: nowMs)
    return credential
  }

  private func sentence(about reason: String) -> String {
    let advice =
      switch APNsReason(rawValue: reason) {
      case .expiredProviderToken, .invalidProviderToken:
        "check key_id, team_id and key_file, and this machine's clock: a token from a clock that is "
          + "wrong by more than a few minutes is refused in the same way"
      case .tooManyProviderTokenUpdates:
        "another process sends with this key and renews its token too often"
      default: "check that the key is enabled for this app and environment"
      }
    return "APNs refused the provider token of \(name): \(reason); \(advice)"
  }

  /// What messages call the key.
  var name: String { "key \(keyID) of team \(teamID)" }

  /// `withLock` with its error type kept.
  private func locked(
    _ body: (inout State) throws(CredentialError) -> Credential
  ) throws(CredentialError) -> Credential {
    try state.withLock { (state) throws(CredentialError) in try body(&state) }
  }
}
