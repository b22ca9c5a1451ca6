internal import COpenSSL
package import PushpoolConfiguration
package import Reactor

/// A key that an app's user tokens are checked with. It has one algorithm, whatever a token says: so a public key is never taken
/// for the secret of an HMAC.
package struct UserTokenKey: Sendable {
  /// The signatures of RFC 7518 that are taken.
  package enum Algorithm: String, Sendable, CaseIterable {
    /// HMAC with SHA-256: a secret that the backend and the server share.
    case hs256 = "HS256"
    /// ECDSA on P-256 with SHA-256: the backend keeps the private key.
    case es256 = "ES256"
  }

  private enum Material: Sendable {
    case secret([UInt8])
    case publicKey(PublicKey)
  }

  package let app: String
  package let algorithm: Algorithm
  /// The `kid` of the tokens that it is for; nil for those of any.
  package let keyID: String?
  private let material: Material

  /// Reads the key that a configuration names.
  package init(_ configured: UserTokenConfiguration) throws(CredentialFileError) {
    let algorithm: Algorithm =
      switch configured.algorithm {
      case .hs256: .hs256
      case .es256: .es256
      }
    let file = configured.keyFile
    try self.init(
      app: configured.app, algorithm: algorithm, content: try CredentialFile.read(file), file: file,
      keyID: configured.keyID)
  }

  /// - Parameters:
  ///   - content: the bytes of a file.
  ///   - file: the name that errors give it.
  package init(
    app: String, algorithm: Algorithm, content: [UInt8], file: String, keyID: String? = nil
  ) throws(CredentialFileError) {
    self.app = app
    self.algorithm = algorithm
    self.keyID = keyID
    switch algorithm {
    case .hs256: material = .secret(try Self.secret(content, file))
    case .es256: material = .publicKey(try PublicKey(content, file))
    }
  }

  /// The text of the file without the line ends behind it, which editors add.
  private static func secret(
    _ content: [UInt8], _ file: String
  ) throws(CredentialFileError) -> [UInt8] {
    var secret = content
    while let last = secret.last, last == 0x0A || last == 0x0D { secret.removeLast() }
    guard !secret.starts(with: "-----BEGIN".utf8) else {
      throw CredentialFileError(
        file: file,
        problem:
          "holds a key in PEM, and HS256 takes a secret text: give that, or name the algorithm "
          + "ES256")
    }
    guard secret.count >= OperationsLimits.hmacKeyBytesMin else {
      throw CredentialFileError(
        file: file,
        problem: "holds \(secret.count) bytes, and HS256 takes at least "
          + "\(OperationsLimits.hmacKeyBytesMin): make one with openssl rand -hex 32")
    }
    return secret
  }

  /// Whether the signature is of this key.
  package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch material {
    case .secret(let secret):
      guard let own = Self.hmac(message, secret), own.count == signature.count else { return false }
      return CRYPTO_memcmp(own, signature, own.count) == 0
    case .publicKey(let key): return key.verifies(signature, of: message)
    }
  }

  /// HMAC with SHA-256; nil when OpenSSL cannot.
  private static func hmac(_ message: [UInt8], _ secret: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: 32)
    var length = 0
    let isDone = EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, secret, secret.count, message, message.count, &digest,
      digest.count, &length)
    ERR_clear_error()
    return isDone != nil && length == digest.count ? digest : nil
  }
}

/// A public key on P-256. Never changed, so any thread may use it.
private final class PublicKey: @unchecked Sendable {
  private let key: OpaquePointer

  init(_ content: [UInt8], _ file: String) throws(CredentialFileError) {
    let remedy =
      "give the public half of a P-256 key in PEM (openssl pkey -in private.pem -pubout -out public.pem)"
    let found = try KeyFileContent(content, file: file, remedy: remedy)
    let keys = found.all(.publicKey)
    guard keys.count == 1, let only = keys.first else {
      throw CredentialFileError(
        file: file, problem: "holds \(found.summary), not one public key; \(remedy)")
    }
    let read = only.der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_PUBKEY(nil, &start, buffer.count)
    }
    ERR_clear_error()
    guard let read else {
      throw CredentialFileError(
        file: file, problem: "holds a public key that OpenSSL cannot use; \(remedy)")
    }
    guard Self.isP256(read) else {
      EVP_PKEY_free(read)
      throw CredentialFileError(
        file: file, problem: "holds a public key of another kind than ES256 takes; \(remedy)")
    }
    key = read
  }

  deinit { EVP_PKEY_free(key) }

  private static func isP256(_ key: OpaquePointer) -> Bool {
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return false }
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    let isNamed = EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
    ERR_clear_error()
    let group = name[..<min(length, name.count)].map { UInt8(bitPattern: $0) }
    return isNamed && group.elementsEqual("prime256v1".utf8)
  }

  /// - Parameter signature: as a JSON Web Token has it.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard let der = ECDSASignature.der(ofJOSE: signature), let context = EVP_MD_CTX_new() else {
      return false
    }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
    return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
  }
}
