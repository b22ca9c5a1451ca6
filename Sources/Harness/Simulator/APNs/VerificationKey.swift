internal import COpenSSL
internal import Glibc

/// The public half of a key, to check signatures with; immutable, so any thread may use it.
final class VerificationKey: @unchecked Sendable {
  private let key: OpaquePointer

  /// - Parameter pem: a private (PKCS #8) or a public key in PEM.
  init(pem: [UInt8], name: String) throws(SimulatorError) {
    let found = pem.withUnsafeBytes { Self.parse($0) }
    ERR_clear_error()
    guard let found else {
      throw SimulatorError(
        .configuration, "\(name) is no PEM private or public key: give the .p8 or its public half")
    }
    key = found
  }

  deinit { EVP_PKEY_free(key) }

  private static func parse(_ pem: UnsafeRawBufferPointer) -> OpaquePointer? {
    for readsPrivate in [true, false] {
      guard let bio = BIO_new_mem_buf(pem.baseAddress, CInt(pem.count)) else { return nil }
      defer { BIO_free(bio) }
      let key =
        readsPrivate
        ? PEM_read_bio_PrivateKey(bio, nil, nil, nil) : PEM_read_bio_PUBKEY(bio, nil, nil, nil)
      if let key { return key }
    }
    return nil
  }

  /// Whether the key is for the P-256 curve that ES256 needs.
  var isEllipticCurve: Bool { EVP_PKEY_get_base_id(key) == EVP_PKEY_EC }
  var isRSA: Bool { EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA }

  /// RS256 (RFC 7518, 3.3).
  func verifiesRS256(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
    isRSA && verifies(signature, of: message)
  }

  /// ES256 (RFC 7518, 3.4): the signature is r and s, 32 bytes each.
  func verifiesES256(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
    guard isEllipticCurve, signature.count == 64 else { return false }
    let r = Self.derInteger(signature[0..<32])
    let s = Self.derInteger(signature[32..<64])
    return verifies([0x30, UInt8(r.count + s.count)] + r + s, of: message)
  }

  private func verifies(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
    return signature.withUnsafeBufferPointer { signature in
      EVP_DigestVerify(
        context, signature.baseAddress, signature.count,
        message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count) == 1
    }
  }

  /// A non-negative integer in DER (X.690, 8.3): no leading zeros, but one before a high bit.
  private static func derInteger(_ bigEndian: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bigEndian.drop { $0 == 0 })
    if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }
}
