import Model
import Reactor

/// Builds signed JSON Web Tokens (RFC 7519, compact serialisation of RFC 7515).
enum JSONWebToken {
  /// - Parameters:
  ///   - keyID: the header's `kid`; left out when nil.
  ///   - claims: the payload, in the order given.
  static func make(
    keyID: String?, claims: JSONObject, key: SigningKey
  ) throws(CredentialFileError) -> String {
    var header: JSONObject = ["alg": .string(key.algorithm.rawValue)]
    header["typ"] = .string("JWT")
    if let keyID { header["kid"] = .string(keyID) }
    let message = [header, claims].map { Base64URL.text(of: JSONValue.object($0).bytes()) }
      .joined(separator: ".")
    return "\(message).\(Base64URL.text(of: try key.sign(Array(message.utf8))))"
  }

  /// Whether a text is a token that the key has signed.
  static func isSigned(_ token: String, by key: SigningKey) -> Bool {
    let bytes = Array(token.utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")),
      let signature = Base64URL.bytes(of: bytes[(dot + 1)...])
    else { return false }
    return key.hasSigned(Array(bytes[..<dot]), signature)
  }
}
