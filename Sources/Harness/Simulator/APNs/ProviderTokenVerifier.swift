internal import Model

/// Checks APNs provider tokens: signature, age and how often a team changes its token.
///
/// A text is verified once and remembered; what depends on time is checked with each request.
struct ProviderTokenVerifier {
  private struct Key {
    let teamID: String
    let verification: VerificationKey
  }

  /// By key id: a key may be replaced under its id.
  private let keys: [String: [Key]]
  private var verified: [[UInt8]: ProviderToken] = [:]
  private var owners: [String: ProviderTokenOwner] = [:]
  /// How long a team must stay with a token, in seconds; 0 lets it change at will.
  var intervalSeconds = SimulatorLimits.providerTokenIntervalSeconds
  private(set) var verifications = 0

  /// - Parameter keys: the signing keys; without any, every signature passes.
  init(keys: [(KnownAPNsKey, VerificationKey)]) {
    self.keys = Dictionary(
      keys.map { ($0.0.keyID, [Key(teamID: $0.0.teamID, verification: $0.1)]) },
      uniquingKeysWith: +)
  }

  /// Verifies the value of an `authorization` header, or finds it verified already.
  mutating func token(
    for authorization: UnsafeRawBufferPointer, nowSeconds: Int64
  ) throws(APNsReason) -> ProviderToken {
    guard authorization.count <= SimulatorLimits.authorizationBytesMax else {
      throw .invalidProviderToken
    }
    let text = [UInt8](authorization)
    if let known = verified[text] { return known }
    let token = try verify(authorization, nowSeconds: nowSeconds)
    if verified.count >= SimulatorLimits.rememberedAuthorizationsMax { verified.removeAll() }
    verified[text] = token
    return token
  }

  private mutating func verify(
    _ authorization: UnsafeRawBufferPointer, nowSeconds: Int64
  ) throws(APNsReason) -> ProviderToken {
    guard authorization.starts(with: "bearer ") || authorization.starts(with: "Bearer ") else {
      throw .invalidProviderToken
    }
    verifications += 1
    let compact = authorization.dropping(7)
    guard let token = JSONWebToken(compact: compact), token.algorithm == "ES256",
      !token.keyID.isEmpty, !token.issuer.isEmpty, let issuedAt = token.issuedAtSeconds,
      issuedAt <= nowSeconds + SimulatorLimits.clockSkewMaxSeconds
    else { throw .invalidProviderToken }
    if !keys.isEmpty {
      let signed = compact.taking(0..<token.signedLength)
      let isSigned = (keys[token.keyID] ?? []).contains { key in
        key.teamID == token.issuer && key.verification.verifiesES256(token.signature, of: signed)
      }
      guard isSigned else { throw .invalidProviderToken }
    }
    return ProviderToken(
      owner: owner(teamID: token.issuer, keyID: token.keyID), issuedAtSeconds: issuedAt,
      serial: verifications)
  }

  private mutating func owner(teamID: String, keyID: String) -> ProviderTokenOwner {
    let name = "\(teamID)/\(keyID)"
    if let known = owners[name] { return known }
    if owners.count >= SimulatorLimits.rememberedAuthorizationsMax { owners.removeAll() }
    let owner = ProviderTokenOwner(teamID: teamID)
    owners[name] = owner
    return owner
  }

  /// Checks what changes with time: the token's age and the team's change of tokens.
  func check(_ token: ProviderToken, nowSeconds: Int64) -> APNsReason? {
    guard nowSeconds - token.issuedAtSeconds < SimulatorLimits.providerTokenAgeMaxSeconds else {
      return .expiredProviderToken
    }
    let owner = token.owner
    guard owner.currentSerial != token.serial else { return nil }
    if owner.currentSerial != nil, nowSeconds - owner.currentSinceSeconds < intervalSeconds {
      return .tooManyProviderTokenUpdates
    }
    owner.currentSerial = token.serial
    owner.currentSinceSeconds = nowSeconds
    return nil
  }
}

/// A provider token that was verified once; requests carrying the same text share it.
final class ProviderToken {
  let owner: ProviderTokenOwner
  let issuedAtSeconds: Int64
  /// Tells the owner's tokens apart.
  let serial: Int

  init(owner: ProviderTokenOwner, issuedAtSeconds: Int64, serial: Int) {
    self.owner = owner
    self.issuedAtSeconds = issuedAtSeconds
    self.serial = serial
  }
}

/// A team and one of its keys: who changes provider tokens, and which one counts at the moment.
final class ProviderTokenOwner {
  let teamID: String
  var currentSerial: Int?
  var currentSinceSeconds: Int64 = 0

  init(teamID: String) {
    self.teamID = teamID
  }
}
