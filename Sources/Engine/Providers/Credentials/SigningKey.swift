import COpenSSL

/// A private key that signs JSON Web Tokens. Safe to share: OpenSSL only reads the key when it signs.
package final class SigningKey: @unchecked Sendable {
  package let algorithm: SigningAlgorithm
  /// Where the key came from, for messages.
  package let file: String
  private let key: OpaquePointer

  /// Loads a PKCS#8 PEM file, such as Apple's `.p8`.
  package convenience init(
    file: String, algorithm: SigningAlgorithm
  ) throws(CredentialFileError) {
    try self.init(
      pem: try CredentialFile.read(file), file: file, algorithm: algorithm)
  }

  /// - Parameter file: what errors name as the source of the key.
  package init(
    pem: [UInt8], file: String, algorithm: SigningAlgorithm
  ) throws(CredentialFileError) {
    guard let key = Self.parse(pem) else {
      throw CredentialFileError(file: file, problem: Self.problem(of: pem))
    }
    if let problem = Self.mismatch(key, algorithm) {
      EVP_PKEY_free(key)
      throw CredentialFileError(file: file, problem: problem)
    }
    self.key = key
    self.file = file
    self.algorithm = algorithm
  }

  deinit {
    EVP_PKEY_free(key)
  }

  /// The signature in the form that a JSON Web Signature carries: for ES256 r and s of 32 bytes each
  /// (RFC 7518 section 3.4), for RS256 the bytes of RSA.
  package func sign(_ message: [UInt8]) throws(CredentialFileError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw failure }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { throw failure }
    var length = Int(EVP_PKEY_get_size(key))
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      throw failure
    }
    signature.removeLast(signature.count - length)
    switch algorithm {
    case .rs256: return signature
    case .es256: return try joseSignature(fromDER: signature)
    }
  }

  private func joseSignature(fromDER der: [UInt8]) throws(CredentialFileError) -> [UInt8] {
    let decoded = der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &start, buffer.count)
    }
    guard let decoded else { throw failure }
    defer { ECDSA_SIG_free(decoded) }
    var joined = [UInt8](repeating: 0, count: 64)
    let isWritten = joined.withUnsafeMutableBufferPointer { buffer in
      BN_bn2binpad(ECDSA_SIG_get0_r(decoded), buffer.baseAddress, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(decoded), buffer.baseAddress! + 32, 32) == 32
    }
    guard isWritten else { throw failure }
    return joined
  }

  private var failure: CredentialFileError {
    ERR_clear_error()
    return CredentialFileError(file: file, problem: "holds a key that OpenSSL cannot sign with")
  }

  private static func parse(_ pem: [UInt8]) -> OpaquePointer? {
    guard let source = BIO_new_mem_buf(pem, CInt(pem.count)) else { return nil }
    defer {
      BIO_free(source)
      ERR_clear_error()
    }
    // Without a callback OpenSSL would ask for the password on the terminal.
    return PEM_read_bio_PrivateKey(source, nil, refusePassword, nil)
  }

  private static func problem(of pem: [UInt8]) -> String {
    let text = String(decoding: pem, as: UTF8.self)
    if text.contains("ENCRYPTED") {
      return "is encrypted with a password; export the key without one"
    }
    if !text.contains("-----BEGIN") {
      return "is not a PEM file: it has no \"-----BEGIN PRIVATE KEY-----\" line"
    }
    if !text.contains("PRIVATE KEY-----") {
      return "is a PEM file without a private key"
    }
    return "holds a private key that cannot be decoded; is the file cut off?"
  }

  private static func mismatch(_ key: OpaquePointer, _ algorithm: SigningAlgorithm) -> String? {
    let kind = EVP_PKEY_get_base_id(key)
    switch algorithm {
    case .es256:
      var name = [CChar](repeating: 0, count: 64)
      var length = 0
      let isNamed = EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
      let group = String(
        decoding: name[..<min(length, name.count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if kind == EVP_PKEY_EC, isNamed, group == "prime256v1" { return nil }
      return "holds a private key that is not of the curve P-256, which ES256 needs"
    case .rs256:
      if kind == EVP_PKEY_RSA, EVP_PKEY_get_bits(key) >= 2_048 { return nil }
      return "holds a private key that is not RSA of at least 2,048 bits, which RS256 needs"
    }
  }
}

private func refusePassword(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: CInt, _ isWriting: CInt,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  -1
}
