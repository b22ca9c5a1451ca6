import COpenSSL

/// A key pair made here, for tests and demos.
///
/// Unchecked Sendable: it never changes, and OpenSSL 3 allows concurrent use of a finished key.
final class PrivateKey: @unchecked Sendable {
  let pointer: OpaquePointer

  /// EC P-256, as APNs' signing keys are and as certificates are fastest.
  static func ellipticCurve() throws(LocalServiceError) -> PrivateKey {
    try PrivateKey("EC") { EVP_PKEY_CTX_set_group_name($0, "P-256") }
  }

  /// RSA 2048, as Google's service accounts have.
  static func rsa() throws(LocalServiceError) -> PrivateKey {
    try PrivateKey("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2048) }
  }

  private init(
    _ algorithm: String, _ configure: (OpaquePointer) -> CInt
  ) throws(LocalServiceError) {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
      throw .openSSL("cannot make an \(algorithm) key")
    }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1,
      EVP_PKEY_generate(context, &key) == 1, let key
    else { throw .openSSL("cannot make an \(algorithm) key") }
    pointer = key
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  /// PKCS #8, not encrypted.
  func privatePEM() throws(LocalServiceError) -> String {
    try OpenSSLText.collect { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
  }

  /// SubjectPublicKeyInfo.
  func publicPEM() throws(LocalServiceError) -> String {
    try OpenSSLText.collect { PEM_write_bio_PUBKEY($0, pointer) }
  }
}
