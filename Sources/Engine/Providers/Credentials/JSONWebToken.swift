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
}
