import Model
import Reactor
import Synchronization

/// Provider tokens of one APNs key: an ES256 JSON Web Token, renewed after 50 minutes and never twice in 20,
/// and the same one in every replica that shares it.
///
/// A refused token is renewed when the last renewal is at least 20 minutes ago, because APNs answers more renewals with
/// TooManyProviderTokenUpdates. Until then the same token is tried again after pauses: it may have been a bad moment.
package final class APNsTokenSource: SharedTokenSource {
  private struct Issued {
    var credential: Credential
    var shared: SharedToken
    /// APNs said no to it until it could be renewed; it is not handed out again.
    var isRefused = false
  }

  private struct State {
    var issued: Issued?
    var generation: UInt64 = 0
    var pause: CredentialError?
    var backOff = RefusalBackOff()
    var share: (any TokenShare)?
    /// The fleet had a token of this key under its former name when it was asked last.
    var isFormerNameUsed = false
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

  /// Agrees on tokens with the fleet from now on; with nil, this process signs its own.
  package func share(through share: (any TokenShare)?) {
    state.withLock { $0.share = share }
  }

  package func current() async throws(CredentialError) -> Credential {
    if let credential = try usable() { return credential }
    let refused = state.withLock { $0.issued?.isRefused == true ? $0.issued?.shared : nil }
    do throws(CredentialError) { return try await renew(instead: refused) } catch {
      guard let credential = lasting() else { throw error }
      return credential
    }
  }

  /// The token at hand, when it cannot be renewed now, as while the fleet cannot be asked: APNs takes it for some minutes yet.
  private func lasting() -> Credential? {
    state.withLock { state in
      guard let issued = state.issued, !issued.isRefused else { return nil }
      let nowMs = clock.nowMs()
      let isGood =
        nowMs - issued.shared.issuedAtMs < CredentialLimits.apnsLastUseMs
        && !issued.shared.isOfFuture(nowMs: nowMs)
      return isGood ? issued.credential : nil
    }
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    guard let refused = try token(of: generation) else { return try await current() }
    let isTooManyUpdates = reason == APNsReason.tooManyProviderTokenUpdates.rawValue
    let renewableAtMs = refused.issuedAtMs + CredentialLimits.apnsRefreshIntervalMsMin
    let nowMs = clock.nowMs()
    // One that was signed by a clock ahead of ours is refused until its date has come: it is not waited for.
    if !isTooManyUpdates, renewableAtMs <= nowMs || refused.issuedAtMs > nowMs {
      return try await renew(instead: refused)
    }
    // Too early to renew, but another replica may have, since this process looked.
    if let share, let agreed = try await known(to: share, otherThan: refused) {
      return adopt(agreed, instead: refused)
    }
    throw pause(reason, renewableAtMs: isTooManyUpdates ? nil : renewableAtMs)
  }

  /// The token at hand, when it is fresh and not refused.
  private func usable() throws(CredentialError) -> Credential? {
    try locked { (state) throws(CredentialError) in
      let nowMs = clock.nowMs()
      try Self.checkPause(&state, nowMs)
      guard let issued = state.issued, !issued.isRefused, isFresh(issued.shared, nowMs) else {
        return nil
      }
      return issued.credential
    }
  }

  /// The token of a generation; nil when it has been replaced in the meantime.
  private func token(of generation: UInt64) throws(CredentialError) -> SharedToken? {
    try locked { (state) throws(CredentialError) in
      try Self.checkPause(&state, clock.nowMs())
      guard let issued = state.issued, issued.credential.generation == generation else {
        return nil
      }
      return issued.shared
    }
  }

  /// - Parameter renewableAtMs: when another token may take this one's place; nil where another would not do better.
  private func pause(_ reason: String, renewableAtMs: Int64?) -> CredentialError {
    state.withLock { state in
      let nowMs = clock.nowMs()
      // Another lane's refusal of the same token came first.
      if let running = state.pause, running.resumeAtMs > nowMs { return running }
      let againAtMs = nowMs + state.backOff.waitMs(nowMs: nowMs)
      let pause = CredentialError(
        reason: sentence(about: reason), resumeAtMs: min(againAtMs, renewableAtMs ?? .max))
      state.pause = pause
      if pause.resumeAtMs == renewableAtMs { state.issued?.isRefused = true }
      return pause
    }
  }

  // MARK: Renewal

  private var share: (any TokenShare)? { state.withLock { $0.share } }
  /// The name of the fleet's token of this key. The key is part of it, so a key that was replaced under the same key id has a
  /// token of its own.
  var shareKey: String { "\(formerShareKey):\(key.digest)" }
  /// The name in versions before 0.4.0, whose workers may be part of the fleet.
  private var formerShareKey: String { "apns:\(teamID):\(keyID)" }

  private func renew(
    instead refused: SharedToken?
  ) async throws(CredentialError) -> Credential {
    guard let share else { return adopt(try sign(), instead: refused) }
    if let known = try await known(to: share, otherThan: refused) {
      return adopt(known, instead: refused)
    }
    var token = try sign()
    if state.withLock({ $0.isFormerNameUsed }) {
      let agreed = try await agree(on: token, under: formerShareKey, instead: refused, share)
      if JSONWebToken.isSigned(agreed.token, by: key) { token = agreed }
    }
    return adopt(
      try await agree(on: token, under: shareKey, instead: refused, share), instead: refused)
  }

  /// A fresh token that the fleet has under either name. Where a worker of a version before 0.4.0 was first, it is the former
  /// name's that APNs takes.
  private func known(
    to share: any TokenShare, otherThan refused: SharedToken?
  ) async throws(CredentialError) -> SharedToken? {
    let former = try await share.current(key: formerShareKey)
    let isFormerOwn = noteFormer(former)
    return [try await share.current(key: shareKey), isFormerOwn ? former : nil].compactMap(\.self)
      .first { $0 != refused && isFresh($0, clock.nowMs()) }
  }

  /// Notes whether workers of a version before 0.4.0 may be there. They know the former name alone, and APNs takes no two tokens of
  /// a key: as long as there is a token under that name, and when it has just ended, all agree under it first. A token of another
  /// key under the same key id is none of this one's.
  private func noteFormer(_ former: SharedToken?) -> Bool {
    let isOwn = former.map { JSONWebToken.isSigned($0.token, by: key) }
    return state.withLock { state in
      if let isOwn { state.isFormerNameUsed = isOwn }
      return state.isFormerNameUsed
    }
  }

  /// The token that the fleet has under a name: the one that is there, or else the proposal. It ends there when it is to be
  /// renewed, however old it is now.
  private func agree(
    on proposal: SharedToken, under name: String, instead refused: SharedToken?,
    _ share: any TokenShare
  ) async throws(CredentialError) -> SharedToken {
    func agree(insteadOf refused: SharedToken?) async throws(CredentialError) -> SharedToken {
      let endMs = proposal.issuedAtMs + CredentialLimits.apnsRefreshAfterMs
      return try await share.agree(
        key: name, proposal: proposal, refused: refused, lifeMs: max(1, endMs - clock.nowMs()))
    }
    let agreed = try await agree(insteadOf: refused)
    guard !isFresh(agreed, clock.nowMs()) else { return agreed }
    // Nobody can use it: it is from a clock that was ahead, or its name has outlived it.
    return try await agree(insteadOf: agreed)
  }

  private func sign() throws(CredentialError) -> SharedToken {
    // Whole seconds, rounded down: `iat` must not lie in the future.
    let nowMs = clock.nowMs()
    do throws(CredentialFileError) {
      let token = try JSONWebToken.make(
        keyID: keyID, claims: ["iss": .string(teamID), "iat": .integer(nowMs / 1_000)], key: key)
      return SharedToken(token: token, issuedAtMs: nowMs)
    } catch {
      throw CredentialError(
        reason: error.description, resumeAtMs: nowMs + CredentialLimits.apnsRefreshIntervalMsMin)
    }
  }

  /// Hands a token out from now on, unless another lane was first with one that is as good.
  private func adopt(_ shared: SharedToken, instead refused: SharedToken?) -> Credential {
    state.withLock { state in
      if let issued = state.issued, !issued.isRefused, issued.shared != refused,
        issued.shared == shared || isFresh(issued.shared, clock.nowMs())
      {
        return issued.credential
      }
      state.generation += 1
      let credential = Credential(
        header: "bearer \(shared.token)", generation: state.generation,
        expiresAtMs: shared.issuedAtMs + CredentialLimits.apnsTokenLifeMs,
        refreshAtMs: shared.issuedAtMs + CredentialLimits.apnsRefreshAfterMs)
      state.issued = Issued(credential: credential, shared: shared)
      return credential
    }
  }

  private func isFresh(_ token: SharedToken, _ nowMs: Int64) -> Bool {
    // An `iat` in the future is refused by APNs.
    nowMs - token.issuedAtMs < CredentialLimits.apnsRefreshAfterMs
      && !token.isOfFuture(nowMs: nowMs)
  }

  private static func checkPause(_ state: inout State, _ nowMs: Int64) throws(CredentialError) {
    guard let pause = state.pause else { return }
    let remainingMs = pause.resumeAtMs - nowMs
    // Longer than any pause can be: the clock was set back.
    if remainingMs > 0, remainingMs <= CredentialLimits.apnsRefreshIntervalMsMin { throw pause }
    state.pause = nil
  }

  private func sentence(about reason: String) -> String {
    let advice =
      switch APNsReason(rawValue: reason) {
      case .expiredProviderToken, .invalidProviderToken:
        "check key_id, team_id and the key, and \(clock.advice): a token from a clock that is "
          + "wrong by more than a few minutes is refused in the same way"
      case .tooManyProviderTokenUpdates:
        "something outside of this fleet sends with this key and signs tokens of its own: give it another "
          + "key, or let it share the Redis of this fleet"
      default: "check that the key is enabled for this app and environment"
      }
    return "APNs refused the provider token of \(name): \(reason); \(advice)"
  }

  /// The name by which messages call the key.
  var name: String { "key \(keyID) of team \(teamID)" }

  /// `withLock` with its error type kept.
  private func locked<Value: Sendable>(
    _ body: (inout State) throws(CredentialError) -> Value
  ) throws(CredentialError) -> Value {
    try state.withLock { (state) throws(CredentialError) in try body(&state) }
  }
}
