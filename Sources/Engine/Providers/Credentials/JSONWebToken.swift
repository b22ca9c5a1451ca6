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
    var token = Base64URL.encode(JSONValue.object(header).bytes())
    token.append(UInt8(ascii: "."))
    token += Base64URL.encode(JSONValue.object(claims).bytes())
    let signature = try key.sign(token)
    token.append(UInt8(ascii: "."))
    token += Base64URL.encode(signature)
    return String(decoding: token, as: UTF8.self)
  }

  /// Whether a text is a token that the key has signed.
  static func isSigned(_ token: String, by key: SigningKey) -> Bool {
    let bytes = Array(token.utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")),
      let signature = Base64URL.decode(bytes[(dot + 1)...])
    else { return false }
    return key.hasSigned(Array(bytes[..<dot]), signature)
  }
}

/// The encoding of JSON Web Tokens: RFC 4648 section 5, without padding.
enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var encoded: [UInt8] = []
    encoded.reserveCapacity((bytes.count * 4 + 2) / 3)
    var start = 0
    while start < bytes.count {
      let count = min(3, bytes.count - start)
      var bits: UInt32 = 0
      for offset in 0..<3 {
        bits = bits << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0)
      }
      for digit in 0...count {
        encoded.append(alphabet[Int(bits >> (18 - 6 * UInt32(digit)) & 63)])
      }
      start += 3
    }
    return encoded
  }

  /// Nil for what is not of the alphabet.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for digit in text {
      guard let value = alphabet.firstIndex(of: digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return decoded
  }
}
