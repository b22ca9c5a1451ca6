internal import COpenSSL

/// A key, certificate or container, in DER, and what it is by its content, whatever a label or a file's name says.
package struct KeyObject: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case privateKey
    case encryptedKey
    case certificate
    case certificateRequest
    case publicKey
    case pkcs12
    case pkcs7
    case openSSH
    case openPGP
    /// The parameters of a curve, which OpenSSL writes in front of a key.
    case parameters

    /// With its article, for messages.
    var name: String {
      switch self {
      case .privateKey: "a private key"
      case .encryptedKey: "a private key that is encrypted with a password"
      case .certificate: "a certificate"
      case .certificateRequest: "a certificate signing request"
      case .publicKey: "a public key"
      case .pkcs12: "a PKCS #12 container (.p12)"
      case .pkcs7: "a PKCS #7 container (.p7b)"
      case .openSSH: "a key in OpenSSH's form"
      case .openPGP: "something of OpenPGP"
      case .parameters: "the parameters of a curve"
      }
    }
  }

  package let kind: Kind
  package let der: [UInt8]

  /// Nil when the bytes are nothing of this.
  init?(der: [UInt8]) {
    guard let kind = Self.kind(of: der) else { return nil }
    self.init(kind, der)
  }

  init(_ kind: Kind, _ der: [UInt8] = []) {
    self.kind = kind
    self.der = der
  }

  /// The key as OpenSSL has it, for the caller to free; nil for what is no private key.
  package func makePrivateKey() -> OpaquePointer? {
    defer { ERR_clear_error() }
    return der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_AutoPrivateKey(nil, &start, buffer.count)
    }
  }

  // MARK: Encrypted keys

  /// Whether a password opens it within so many iterations.
  func isDecrypted(within iterationsMax: Int) -> Bool {
    guard let encrypted = makeEncryptedKey() else { return true }
    defer { X509_SIG_free(encrypted) }
    let iterationsMax = Int64(iterationsMax)
    return copenssl_pkcs8_iterations(encrypted, iterationsMax) <= iterationsMax
  }

  /// The key that a password opens, for the caller to free; nil where it does not. It may take long.
  func decrypted(_ password: String) -> OpaquePointer? {
    defer { ERR_clear_error() }
    guard let encrypted = makeEncryptedKey() else { return nil }
    defer { X509_SIG_free(encrypted) }
    guard let plain = PKCS8_decrypt(encrypted, password, CInt(password.utf8.count)) else {
      return nil
    }
    defer { PKCS8_PRIV_KEY_INFO_free(plain) }
    return EVP_PKCS82PKEY(plain)
  }

  private func makeEncryptedKey() -> OpaquePointer? {
    defer { ERR_clear_error() }
    return der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_X509_SIG(nil, &start, buffer.count)
    }
  }

  /// The certificate as OpenSSL has it, for the caller to free; nil for what is none.
  func makeCertificate() -> OpaquePointer? {
    defer { ERR_clear_error() }
    return der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_X509(nil, &start, buffer.count)
    }
  }

  private static func kind(of der: [UInt8]) -> Kind? {
    if der.starts(with: "openssh-key-v1".utf8) { return .openSSH }
    defer { ERR_clear_error() }
    func isRead(_ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Bool) -> Bool {
      der.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        return read(&start, buffer.count)
      }
    }
    // From the strictest forms to that of a key, which OpenSSL recognises by trial.
    if isRead({ keep(d2i_X509(nil, $0, $1), X509_free) }) { return .certificate }
    if isRead({ keep(d2i_PKCS12(nil, $0, $1), PKCS12_free) }) { return .pkcs12 }
    if isRead({ keep(d2i_X509_REQ(nil, $0, $1), X509_REQ_free) }) { return .certificateRequest }
    if isRead({ keep(d2i_X509_SIG(nil, $0, $1), X509_SIG_free) }) { return .encryptedKey }
    if isRead({ keep(d2i_PUBKEY(nil, $0, $1), EVP_PKEY_free) }) { return .publicKey }
    if isRead({ keep(d2i_PKCS7(nil, $0, $1), PKCS7_free) }) { return .pkcs7 }
    if isRead({ keep(d2i_AutoPrivateKey(nil, $0, Int($1)), EVP_PKEY_free) }) { return .privateKey }
    return nil
  }

  /// Whether there is something, which is given back.
  private static func keep<Pointer>(_ pointer: Pointer?, _ free: (Pointer?) -> Void) -> Bool {
    free(pointer)
    return pointer != nil
  }
}
