import COpenSSL
import Model

/// Signs tokens for tests with a key made for the purpose or read from a PEM file's bytes.
final class SigningKey {
  enum Kind { case ellipticCurve, rsa }

  private let key: OpaquePointer
  private let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
    key =
      kind == .rsa
      ? evpGenerate(EVP_PKEY_RSA) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2048) }
      : evpGenerate(EVP_PKEY_EC) {
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, NID_X9_62_prime256v1)
      }
  }

  init(pem: [UInt8], _ kind: Kind) {
    self.kind = kind
    let bio = BIO_new_mem_buf(pem, CInt(pem.count))
    key = PEM_read_bio_PrivateKey(bio, nil, nil, nil)!
    BIO_free(bio)
  }

  deinit { EVP_PKEY_free(key) }

  var publicPEM: [UInt8] { pem { PEM_write_bio_PUBKEY($0, key) } }
  var privatePEM: [UInt8] {
    pem { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  /// A JSON Web Token in compact form over these two JSON texts.
  func token(header: String, claims: String) -> String {
    let message = [header, claims].map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
    return message + "." + Base64URL.text(of: signature(of: Array(message.utf8)))
  }

  func providerToken(keyID: String, teamID: String, issuedAt: Int64) -> String {
    token(
      header: "{\"alg\":\"ES256\",\"kid\":\"\(keyID)\"}",
      claims: "{\"iss\":\"\(teamID)\",\"iat\":\(issuedAt)}")
  }

  private func signature(of message: [UInt8]) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key)
    var length = 0
    EVP_DigestSign(context, nil, &length, message, message.count)
    var bytes = [UInt8](repeating: 0, count: length)
    EVP_DigestSign(context, &bytes, &length, message, message.count)
    bytes.removeSubrange(length...)
    return kind == .rsa ? bytes : joseSignature(der: bytes)
  }

  private func pem(_ write: (OpaquePointer?) -> CInt) -> [UInt8] {
    let bio = BIO_new(BIO_s_mem())
    defer { BIO_free(bio) }
    _ = write(bio)
    var data: UnsafeMutablePointer<CChar>?
    let length = copenssl_bio_get_mem_data(bio, &data)
    return Array(UnsafeRawBufferPointer(start: data, count: length))
  }
}

private func evpGenerate(
  _ type: CInt, _ configure: (OpaquePointer?) -> CInt
) -> OpaquePointer {
  let context = EVP_PKEY_CTX_new_id(type, nil)
  defer { EVP_PKEY_CTX_free(context) }
  EVP_PKEY_keygen_init(context)
  _ = configure(context)
  var key: OpaquePointer?
  EVP_PKEY_keygen(context, &key)
  return key!
}

/// SEQUENCE { INTEGER r, INTEGER s } as the 64 bytes of RFC 7518, 3.4.
private func joseSignature(der: [UInt8]) -> [UInt8] {
  func integer(at offset: Int) -> [UInt8] {
    let digits = der[(offset + 2)..<(offset + 2 + Int(der[offset + 1]))].drop { $0 == 0 }
    return [UInt8](repeating: 0, count: 32 - digits.count) + digits
  }
  return integer(at: 2) + integer(at: 4 + Int(der[3]))
}
