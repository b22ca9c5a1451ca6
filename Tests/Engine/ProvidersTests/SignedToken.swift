import COpenSSL
import Foundation
import Model

/// A JSON Web Token taken apart and verified with OpenSSL.
struct SignedToken {
  let header: JSONObject
  let claims: JSONObject
  private let signed: [UInt8]
  private let signature: [UInt8]

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
      let signature = Self.decode(parts[2]),
      let headerObject = (try? JSONParser().parse(header))?.objectValue,
      let claimsObject = (try? JSONParser().parse(claims))?.objectValue
    else { return nil }
    self.header = headerObject
    self.claims = claimsObject
    self.signature = signature
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  /// Whether the key of `publicKeyPEM` made the signature; for ES256 it must be r and s.
  func isSigned(by publicKeyPEM: String) -> Bool {
    let pem = Array(publicKeyPEM.utf8)
    let bio = BIO_new_mem_buf(pem, CInt(pem.count))
    defer { BIO_free(bio) }
    let key = PEM_read_bio_PUBKEY(bio, nil, nil, nil)
    defer { EVP_PKEY_free(key) }
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    let checked = header["alg"] == .string("ES256") ? der : signature
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, checked, checked.count, signed, signed.count) == 1
  }

  private var der: [UInt8] {
    guard signature.count == 64 else { return [] }
    func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      var digits = Array(bytes.drop { $0 == 0 })
      if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
      return [0x02, UInt8(digits.count)] + digits
    }
    let pair = integer(signature[..<32]) + integer(signature[32...])
    return [0x30, UInt8(pair.count)] + pair
  }

  private static func decode(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.contains("="), !text.contains("+"), !text.contains("/") else { return nil }
    let base64 = text.replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
    return Data(base64Encoded: base64 + padding).map { Array($0) }
  }
}
