import COpenSSL
package import Reactor

/// A private key that signs JSON Web Tokens. Safe to share: OpenSSL only reads the key when it signs.
package final class SigningKey: @unchecked Sendable {
  package let algorithm: SigningAlgorithm
  /// Where the key came from, for messages.
  package let file: String
  /// A digest of the public key: the same in whatever form a file holds the key, and another one for another key. It is no secret.
  package let digest: String
  private let key: OpaquePointer

  /// Loads a file such as Apple's `.p8`, in any form that `KeyFileContent` reads.
  package convenience init(
    file: String, algorithm: SigningAlgorithm
  ) throws(CredentialFileError) {
    try self.init(
      content: try CredentialFile.read(file), file: file, algorithm: algorithm)
  }

  /// - Parameters:
  ///   - content: the file's bytes, or a text out of another file.
  ///   - file: what errors name as the source of the key.
  package init(
    content: [UInt8], file: String, algorithm: SigningAlgorithm
  ) throws(CredentialFileError) {
    let found = try KeyFileContent(content, file: file, remedy: algorithm.remedy)
    func refused(_ problem: String) -> CredentialFileError {
      CredentialFileError(file: file, problem: "\(problem); \(algorithm.remedy)")
    }
    var keys: [KeyObject] = []
    // Some files hold their key twice, as a tool appended it again.
    for key in found.all(.privateKey) where !keys.contains(key) { keys.append(key) }
    guard let only = keys.first else {
      throw refused("holds \(found.summary), but no private key to sign with")
    }
    guard keys.count == 1 else {
      throw CredentialFileError(
        file: file, problem: "holds \(keys.count) private keys: leave only the one that is to sign")
    }
    guard let key = only.makePrivateKey() else {
      throw refused("holds a private key that OpenSSL cannot use")
    }
    if let problem = Self.mismatch(key, algorithm) {
      EVP_PKEY_free(key)
      throw refused(problem)
    }
    guard let digest = Self.digest(of: key) else {
      EVP_PKEY_free(key)
      throw refused("holds a private key that OpenSSL cannot use")
    }
    self.key = key
    self.digest = digest
    self.file = file
    self.algorithm = algorithm
  }

  deinit {
    EVP_PKEY_free(key)
  }

  /// A digest of the public key as a certificate would hold it (SubjectPublicKeyInfo, RFC 5280 section 4.1).
  private static func digest(of key: OpaquePointer) -> String? {
    var content = [UInt8](repeating: 0, count: max(0, Int(i2d_PUBKEY(key, nil))))
    let count = content.withUnsafeMutableBufferPointer { buffer in
      var place = buffer.baseAddress
      return place == nil ? 0 : i2d_PUBKEY(key, &place)
    }
    guard count > 0 else {
      ERR_clear_error()
      return nil
    }
    return MaterialDigest([.init(bytes: content)]).text
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

  /// Whether the key has made the signature, which has the form that `sign` gives it.
  func hasSigned(_ message: [UInt8], _ signature: [UInt8]) -> Bool {
    let written = algorithm == .es256 ? ECDSASignature.der(ofJOSE: signature) : signature
    guard let signature = written, let context = EVP_MD_CTX_new() else { return false }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  private var failure: CredentialFileError {
    ERR_clear_error()
    return CredentialFileError(file: file, problem: "holds a key that OpenSSL cannot sign with")
  }

  /// Says what the key is, if it is not what the algorithm takes.
  private static func mismatch(_ key: OpaquePointer, _ algorithm: SigningAlgorithm) -> String? {
    let kind = EVP_PKEY_get_base_id(key)
    let bits = EVP_PKEY_get_bits(key)
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    let isNamed = EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
    ERR_clear_error()
    let group = String(
      decoding: name[..<min(length, name.count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let found: String
    switch kind {
    case EVP_PKEY_EC:
      if algorithm == .es256, isNamed, group == "prime256v1" { return nil }
      found = "an EC key of the curve \(isNamed ? group : "without a name")"
    case EVP_PKEY_RSA:
      if algorithm == .rs256, bits >= 2_048 { return nil }
      found = "an RSA key of \(bits) bits"
    default:
      found = "a private key of another kind"
    }
    return "holds \(found), but \(algorithm.need)"
  }
}

/// The signatures of RFC 7518 that the providers ask for.
package enum SigningAlgorithm: String, Sendable {
  /// ECDSA on P-256 with SHA-256: APNs provider tokens.
  case es256 = "ES256"
  /// RSASSA-PKCS1-v1_5 with SHA-256: Google service accounts.
  case rs256 = "RS256"

  /// The demands on a key, for messages.
  var need: String {
    switch self {
    case .es256: "APNs takes an EC key of the curve P-256"
    case .rs256: "Google takes an RSA key of at least 2,048 bits"
    }
  }

  /// Where the right key is to be had, for messages about a wrong one.
  var remedy: String {
    switch self {
    case .es256:
      "give the file AuthKey_….p8 as Apple's developer site gave it out, under Keys"
    case .rs256:
      "give the JSON file that the Firebase console makes under Service accounts, Generate new "
        + "private key"
    }
  }
}
