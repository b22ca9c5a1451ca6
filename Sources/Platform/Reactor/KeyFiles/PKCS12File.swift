internal import COpenSSL

/// Opens PKCS #12 containers (RFC 7292). OpenSSL 3 has the ciphers of older ones, such as the Keychain's RC2-40, in a
/// provider of its own, which is loaded for such a container alone.
enum PKCS12File {
  enum Problem: Error, Equatable {
    case needsPassword
    case wrongPassword
    /// The password is right, but this system has no provider for the cipher.
    case legacyCipher(String)
    case incomplete
    /// The file asks for more iterations than the caller allows.
    case tooManyIterations
    case unreadable(String)
  }

  /// - Parameters:
  ///   - password: empty for none.
  ///   - iterationsMax: for each key that is derived from the password; `ReactorLimits.keyIterationsOfFile` times as many for all.
  ///   - modules: where OpenSSL's providers are, in place of the system's folder.
  static func open(
    _ der: [UInt8], password: String, iterationsMax: Int = ReactorLimits.keyIterationsMax,
    modules: String? = nil
  ) throws(Problem) -> KeyPairing {
    defer { ERR_clear_error() }
    guard let p12 = read(der, in: nil) else { throw .unreadable(TLSError.reasonFromQueue()) }
    defer { PKCS12_free(p12) }
    try check(copenssl_pkcs12_iterations(p12, Int64(iterationsMax)), iterationsMax)
    if PKCS12_mac_present(p12) == 1, !isRight(password, for: p12) {
      throw password.isEmpty ? .needsPassword : .wrongPassword
    }
    if let contents = try parse(p12, password, iterationsMax) { return try contents.pairing() }
    let reason = TLSError.reasonFromQueue()
    guard let cipher = cipher(of: p12) else { throw .unreadable(reason) }
    return try openWithLegacyCiphers(der, password, iterationsMax, cipher, reason, modules)
  }

  private static func openWithLegacyCiphers(
    _ der: [UInt8], _ password: String, _ iterationsMax: Int, _ cipher: String, _ reason: String,
    _ modules: String?
  ) throws(Problem) -> KeyPairing {
    guard let library = OSSL_LIB_CTX_new() else { throw .unreadable(reason) }
    defer { OSSL_LIB_CTX_free(library) }
    if let modules { OSSL_PROVIDER_set_default_search_path(library, modules) }
    guard let legacy = OSSL_PROVIDER_load(library, "legacy") else { throw .legacyCipher(cipher) }
    defer { OSSL_PROVIDER_unload(legacy) }
    guard let usual = OSSL_PROVIDER_load(library, "default") else { throw .legacyCipher(cipher) }
    defer { OSSL_PROVIDER_unload(usual) }
    guard let p12 = read(der, in: library) else { throw .unreadable(reason) }
    defer { PKCS12_free(p12) }
    guard let contents = try parse(p12, password, iterationsMax) else {
      throw .unreadable(TLSError.reasonFromQueue())
    }
    // Made again without the library, which goes.
    return try contents.copied().pairing()
  }

  private struct Contents {
    let key: OpaquePointer?
    let certificates: [OpaquePointer]

    func pairing() throws(Problem) -> KeyPairing {
      guard let key, !certificates.isEmpty else {
        release()
        throw .incomplete
      }
      return KeyPairing(key: key, certificates: certificates)
    }

    /// Copies the contents to OpenSSL's usual library; the originals are given back.
    func copied() -> Contents {
      let bytes = PKCS12File.encoded { i2d_PrivateKey(key, $0) }
      let copy = Contents(
        key: key == nil ? nil : KeyObject(.privateKey, bytes).makePrivateKey(),
        certificates: certificates.compactMap { certificate in
          KeyObject(.certificate, PKCS12File.encoded { i2d_X509(certificate, $0) })
            .makeCertificate()
        })
      release()
      return copy
    }

    private func release() {
      EVP_PKEY_free(key)
      for certificate in certificates { X509_free(certificate) }
    }
  }

  private static func read(_ der: [UInt8], in library: OpaquePointer?) -> OpaquePointer? {
    var p12 = library.flatMap { PKCS12_init_ex(NID_pkcs7_data, $0, nil) }
    return der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      // What is given is freed when it cannot be read.
      return d2i_PKCS12(&p12, &start, buffer.count)
    }
  }

  private static func isRight(_ password: String, for p12: OpaquePointer) -> Bool {
    if PKCS12_verify_mac(p12, password, CInt(password.utf8.count)) == 1 { return true }
    // Without a password there are two ways to count it (RFC 7292, appendix B.1).
    return password.isEmpty && PKCS12_verify_mac(p12, nil, 0) == 1
  }

  /// - Parameter iterations: those of a file as a whole.
  private static func check(_ iterations: Int64, _ iterationsMax: Int) throws(Problem) {
    guard iterations <= ReactorLimits.keyIterationsOfFile * iterationsMax else {
      throw .tooManyIterations
    }
  }

  private static func parse(
    _ p12: OpaquePointer, _ password: String, _ iterationsMax: Int
  ) throws(Problem) -> Contents? {
    try check(
      copenssl_pkcs12_inner_iterations(p12, password, Int64(iterationsMax)), iterationsMax)
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    guard PKCS12_parse(p12, password, &key, &certificate, &others) == 1 else { return nil }
    defer { copenssl_certificates_free(others) }
    var certificates: [OpaquePointer] = []
    while let other = copenssl_certificates_pop(others) { certificates.append(other) }
    return Contents(key: key, certificates: certificates + (certificate.map { [$0] } ?? []))
  }

  /// The cipher of its certificates, as OpenSSL calls it; nil when they are not encrypted.
  private static func cipher(of p12: OpaquePointer) -> String? {
    let number = copenssl_pkcs12_cipher(p12)
    guard number != NID_undef, let name = OBJ_nid2ln(number) else { return nil }
    return String(cString: name)
  }

  /// - Parameter write: as OpenSSL's i2d functions.
  static func encoded(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt
  ) -> [UInt8] {
    let count = write(nil)
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
      var start = buffer.baseAddress
      used = max(0, Int(write(&start)))
    }
  }
}
