internal import Model

/// A JSON Web Token in compact form (RFC 7519), taken apart but not yet believed.
struct JSONWebToken {
  var algorithm = ""
  var keyID = ""
  var issuer = ""
  var audience = ""
  var scope = ""
  var issuedAtSeconds: Int64?
  var expiresAtSeconds: Int64?
  let signature: [UInt8]
  /// How many bytes of the compact form are signed: header, dot and claims.
  let signedLength: Int

  /// - Returns: nil when it is not three parts of Base64URL with two JSON objects in them.
  init?(compact: UnsafeRawBufferPointer) {
    guard let firstDot = compact.firstOffset(of: UInt8(ascii: ".")) else { return nil }
    let rest = compact.dropping(firstDot + 1)
    guard let secondDot = rest.firstOffset(of: UInt8(ascii: ".")),
      let header = Base64URL.bytes(of: compact.taking(0..<firstDot)),
      let claims = Base64URL.bytes(of: rest.taking(0..<secondDot)),
      let signature = Base64URL.bytes(of: rest.dropping(secondDot + 1))
    else { return nil }
    self.signature = signature
    signedLength = firstDot + 1 + secondDot
    guard header.withUnsafeBytes({ readHeader($0) }), claims.withUnsafeBytes({ readClaims($0) })
    else { return nil }
  }

  private mutating func readHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var scanner = JSONWalker(bytes)
    var algorithm = ""
    var keyID = ""
    let isWellFormed = scanner.forEachMember { key, scanner in
      if key.equals("alg") { return Self.take(&scanner, into: &algorithm) }
      if key.equals("kid") { return Self.take(&scanner, into: &keyID) }
      return scanner.skipValue()
    }
    self.algorithm = algorithm
    self.keyID = keyID
    return isWellFormed && scanner.isAtEnd()
  }

  private mutating func readClaims(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var scanner = JSONWalker(bytes)
    var copy = self
    let isWellFormed = scanner.forEachMember { key, scanner in
      if key.equals("iss") { return Self.take(&scanner, into: &copy.issuer) }
      if key.equals("aud") { return Self.take(&scanner, into: &copy.audience) }
      if key.equals("scope") { return Self.take(&scanner, into: &copy.scope) }
      if key.equals("iat") { return Self.take(&scanner, into: &copy.issuedAtSeconds) }
      if key.equals("exp") { return Self.take(&scanner, into: &copy.expiresAtSeconds) }
      return scanner.skipValue()
    }
    self = copy
    return isWellFormed && scanner.isAtEnd()
  }

  private static func take(_ scanner: inout JSONWalker, into text: inout String) -> Bool {
    guard let bytes = scanner.string() else { return false }
    // A slash is the one character of these claims that serialisers escape.
    text = bytes.text.replacing("\\/", with: "/")
    return true
  }

  private static func take(_ scanner: inout JSONWalker, into seconds: inout Int64?) -> Bool {
    seconds = scanner.integer()
    return seconds != nil
  }
}
