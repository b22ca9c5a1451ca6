internal import Model
internal import Operations

/// A JSON Web Token (RFC 7519) by which an app's backend says whose phone it is. Its signature was verified.
struct UserToken: Sendable, Equatable {
  let app: String
  let user: String
  // In epoch seconds.
  private let end: Double
  private let begin: Double?
  private let issued: Double?

  /// Verifies the signature of a token, and reads it. Whether it is valid now, `check` says.
  /// - Parameter keys: those that the configuration names.
  init(_ text: String, keys: [UserTokenKey]) throws(UserTokenFault) {
    let signed = try SignedToken(text)
    let key = try signed.verify(with: keys)
    app = key.app
    guard let end = try signed.instant("exp") else { throw .noEnd }
    self.end = end
    begin = try signed.instant("nbf")
    issued = try signed.instant("iat")
    guard let user = signed.claims["sub"]?.stringValue,
      (try? TextRule.checkUser(user)) != nil
    else { throw .noUser }
    self.user = user
  }

  /// Checks that the token is valid now.
  /// - Parameter nowMs: epoch milliseconds.
  func check(nowMs: Int64) throws(UserTokenFault) {
    let now = Double(nowMs) / 1_000
    let leeway = Double(ServerLimits.clockLeewaySeconds)
    guard end > now else { throw .ended }
    guard end <= now + Double(ServerLimits.userTokenSecondsMax) + leeway else { throw .endsLate }
    if let begin, begin > now + leeway { throw .notYet }
    if let issued, issued > now + leeway { throw .issuedAhead }
  }
}

/// The reason why a user token is refused.
enum UserTokenFault: Error, Sendable, CaseIterable, CustomStringConvertible {
  case tooLong, malformed, unsigned, otherAlgorithm, critical, noApp, signature
  case noEnd, ended, endsLate, notYet, issuedAhead, badInstant, noUser

  /// Whether anybody can make such a token up. A token with another fault has the signature of its app's backend.
  var isForgeable: Bool {
    switch self {
    case .tooLong, .malformed, .unsigned, .otherAlgorithm, .critical, .noApp, .signature: true
    case .noEnd, .ended, .endsLate, .notYet, .issuedAhead, .badInstant, .noUser: false
    }
  }

  var description: String {
    switch self {
    case .tooLong: "it is longer than \(ServerLimits.userTokenBytesMax) bytes"
    case .malformed:
      "it must be three parts in Base64URL with dots between: a header, claims and a signature"
    case .unsigned: "it is not signed (alg is none): sign it with the key of its app"
    case .otherAlgorithm:
      "alg must be HS256 or ES256, the one that the configuration names for its app"
    case .critical: "its header has crit, which names something that is not known here"
    case .noApp: "aud must name the app, as a string or in a list"
    case .signature:
      "its signature does not fit: sign it with the key, and by the algorithm, that the "
        + "configuration names for the app in aud"
    case .noEnd: "exp is missing: say when it ends, in epoch seconds"
    case .ended: "it has ended (exp): get a new one from your backend"
    case .endsLate: "exp must be at most 24 hours ahead"
    case .notYet: "it is not valid yet (nbf): is a clock wrong?"
    case .issuedAhead: "it was issued in the future (iat): is a clock wrong?"
    case .badInstant: "exp, nbf and iat must be numbers: epoch seconds"
    case .noUser:
      "sub must be the user: 1 to \(Limits.userBytesMax) bytes without control characters"
    }
  }
}

/// A token whose parts were read. Its claims are believed once `verify` has found its key.
private struct SignedToken {
  let claims: JSONObject
  private let algorithm: UserTokenKey.Algorithm
  private let keyID: String?
  private let apps: [String]
  private let message: [UInt8]
  private let signature: [UInt8]

  init(_ text: String) throws(UserTokenFault) {
    guard text.utf8.count <= ServerLimits.userTokenBytesMax else { throw .tooLong }
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]) else { throw .malformed }
    let name = header["alg"]?.stringValue ?? ""
    guard name.lowercased() != "none" else { throw .unsigned }
    guard let algorithm = UserTokenKey.Algorithm(rawValue: name) else { throw .otherAlgorithm }
    // RFC 7515, 4.1.11: whoever does not know what it names must refuse it.
    guard header["crit"] == nil else { throw .critical }
    guard let claims = Self.object(parts[1]), let signature = Base64URL.bytes(of: parts[2])
    else { throw .malformed }
    self.claims = claims
    self.algorithm = algorithm
    self.signature = signature
    keyID = header["kid"]?.stringValue
    apps =
      switch claims["aud"] {
      case .string(let app): [app]
      case .array(let items): items.compactMap(\.stringValue)
      default: []
      }
    guard !apps.isEmpty else { throw .noApp }
    message = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
  }

  /// Returns the key that it was signed with. The token is for the app of that key, which `aud` must name. An app that is not
  /// there and a wrong signature are one fault: nobody learns which apps there are.
  func verify(with keys: [UserTokenKey]) throws(UserTokenFault) -> UserTokenKey {
    let fitting = keys.filter { key in
      key.algorithm == algorithm && apps.contains(key.app)
        && (key.keyID == nil || keyID == nil || key.keyID == keyID)
    }
    let key = fitting.prefix(ServerLimits.userTokenKeysMax).first {
      $0.verifies(signature, of: message)
    }
    guard let key else { throw .signature }
    return key
  }

  /// A NumericDate in epoch seconds; nil when it is not there.
  func instant(_ name: String) throws(UserTokenFault) -> Double? {
    guard let value = claims[name] else { return nil }
    guard case .number(let number) = value, let seconds = number.double, seconds >= 0 else {
      throw .badInstant
    }
    return seconds
  }

  private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
    guard let bytes = Base64URL.bytes(of: part) else { return nil }
    let parser = JSONParser(
      depthMax: 8, bytesMax: ServerLimits.userTokenBytesMax, valuesMax: 256)
    return (try? parser.parse(bytes))?.objectValue
  }
}
