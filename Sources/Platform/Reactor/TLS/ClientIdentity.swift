internal import COpenSSL
internal import Glibc

/// A client certificate with its private key and chain, read once at start.
package struct ClientIdentity: Sendable {
  /// Owns OpenSSL's objects; they are not changed after loading.
  final class Material: @unchecked Sendable {
    let certificate: OpaquePointer
    let key: OpaquePointer
    let chain: [OpaquePointer]

    init(certificate: OpaquePointer, key: OpaquePointer, chain: [OpaquePointer]) {
      self.certificate = certificate
      self.key = key
      self.chain = chain
    }

    deinit {
      X509_free(certificate)
      EVP_PKEY_free(key)
      for extra in chain { X509_free(extra) }
    }
  }

  let material: Material

  /// The certificate itself, in DER.
  var leafDER: [UInt8] { PKCS12File.encoded { i2d_X509(material.certificate, $0) } }

  /// When the certificate ceases to hold (`notAfter`; RFC 5280, 4.1.2.5), in epoch milliseconds; nil when it does not say so in
  /// a form that can be read.
  package var expiresAtMs: Int64? {
    var date = tm()
    guard ASN1_TIME_to_tm(X509_get0_notAfter(material.certificate), &date) == 1 else { return nil }
    return Int64(timegm(&date)) * 1_000
  }

  private static let remedy =
    "export certificate and private key together as .p12, in Keychain Access"

  /// Reads a PKCS #12 container, or certificates with their key in PEM, in any order. What the file holds counts, not its
  /// name.
  /// - Parameter password: of the container or of the key; empty for none.
  package init(file: String, password: String = "") throws(TLSError) {
    try self.init(file: file, password: password, modules: nil)
  }

  /// - Parameters:
  ///   - content: the container, or the certificates and their key.
  ///   - file: the source that errors name.
  ///   - iterationsMax: by which a key is derived from the password. More are refused before any is done.
  package init(
    content: [UInt8], file: String, password: String = "",
    iterationsMax: Int = ReactorLimits.keyIterationsMax
  ) throws(TLSError) {
    try self.init(
      content: content, file: file, password: password, iterationsMax: iterationsMax, modules: nil)
  }

  /// - Parameter modules: where OpenSSL's providers are, in place of the system's folder.
  init(file: String, password: String, modules: String?) throws(TLSError) {
    let bytes: [UInt8]
    do throws(CredentialFileError) { bytes = try CredentialFile.read(file) } catch {
      throw TLSError(error.description)
    }
    try self.init(
      content: bytes, file: file, password: password,
      iterationsMax: ReactorLimits.keyIterationsMax, modules: modules)
  }

  private init(
    content bytes: [UInt8], file: String, password: String, iterationsMax: Int, modules: String?
  ) throws(TLSError) {
    do throws(CredentialFileError) {
      let found = try KeyFileContent(bytes, file: file, remedy: Self.remedy)
      func refused(_ problem: String) -> CredentialFileError {
        CredentialFileError(file: file, problem: problem)
      }
      let pairing: KeyPairing
      if let container = found.all(.pkcs12).first {
        do throws(PKCS12File.Problem) {
          pairing = try PKCS12File.open(
            container.der, password: password, iterationsMax: iterationsMax, modules: modules)
        } catch {
          throw refused(Self.sentence(error, file, iterationsMax))
        }
      } else {
        pairing = try Self.pairing(of: found, bytes, password, iterationsMax, refused)
      }
      guard let material = pairing.identity() else {
        throw refused(
          "holds a private key that does not belong to any certificate of the file; \(Self.remedy)")
      }
      self.material = material
    } catch {
      throw TLSError(error.description)
    }
  }

  private static func pairing(
    of found: KeyFileContent, _ bytes: [UInt8], _ password: String, _ iterationsMax: Int,
    _ refused: (String) -> CredentialFileError
  ) throws(CredentialFileError) -> KeyPairing {
    let certificates = found.all(.certificate)
    let isEncrypted = !found.all(.encryptedKey).isEmpty
    guard isEncrypted || !found.all(.privateKey).isEmpty else {
      guard !certificates.isEmpty else {
        throw refused("holds \(found.summary), but no certificate with its private key; \(remedy)")
      }
      throw refused("holds a certificate without its private key; \(remedy)")
    }
    guard !certificates.isEmpty else {
      throw refused(
        "holds a private key without a certificate: a .p8 belongs into key_file, beside key_id and "
          + "team_id")
    }
    let keys = found.all(.privateKey)
    if isEncrypted, keys.isEmpty {
      guard !password.isEmpty else {
        throw refused(
          "holds a private key that is encrypted: give the file of its password in password_file")
      }
      guard found.all(.encryptedKey).allSatisfy({ $0.isDecrypted(within: iterationsMax) }) else {
        throw refused(
          "holds a private key that "
            + tooMany(
              iterationsMax, "openssl pkey -in push.pem -out key.pem",
              "key.pem with the certificate behind it"))
      }
      guard let key = decrypted(found.all(.encryptedKey)[0], bytes, password) else {
        throw refused("holds a private key that the password in password_file does not open")
      }
      return KeyPairing(key: key, certificates: certificates.compactMap { $0.makeCertificate() })
    }
    guard keys.allSatisfy({ $0 == keys[0] }) else {
      throw refused("holds \(keys.count) private keys: leave only the certificate's own")
    }
    guard let key = keys[0].makePrivateKey() else {
      throw refused("holds a private key that OpenSSL cannot use; \(remedy)")
    }
    return KeyPairing(key: key, certificates: certificates.compactMap { $0.makeCertificate() })
  }

  private static func sentence(
    _ problem: PKCS12File.Problem, _ file: String, _ iterationsMax: Int
  ) -> String {
    switch problem {
    case .needsPassword:
      "is a .p12 with a password: give the file of the password in password_file"
    case .wrongPassword:
      "is a .p12 with another password than the one in password_file"
    case .legacyCipher(let cipher):
      "is encrypted with \(cipher), which OpenSSL 3 has in its legacy provider only, and this "
        + "system has none. Convert the file on the Mac: openssl pkcs12 -in \(file) -nodes -out "
        + "push.pem (with -legacy where OpenSSL is 3), and name push.pem. Or install "
        + "openssl-provider-legacy"
    case .incomplete:
      "must hold both a certificate and its private key; \(remedy)"
    case .tooManyIterations:
      "is a .p12 that "
        + tooMany(iterationsMax, "openssl pkcs12 -in push.p12 -nodes -out push.pem", "push.pem")
    case .unreadable(let reason):
      "is a .p12 that OpenSSL cannot read (\(reason)); \(remedy)"
    }
  }

  /// - Parameters:
  ///   - command: makes a file of it that asks for none.
  ///   - result: what to give in its place.
  private static func tooMany(
    _ iterationsMax: Int, _ command: String, _ result: String
  ) -> String {
    "takes more than \(iterationsMax) iterations to open"
      + (iterationsMax < ReactorLimits.keyIterationsMax
        ? ": open it once, and give \(result) in its place (\(command))"
        : ", and no tool asks for so many: export it again")
  }

  /// A key that its password opens: as PKCS #8, or in OpenSSL's older form, which takes one iteration.
  /// - Parameter bytes: the file.
  private static func decrypted(
    _ key: KeyObject, _ bytes: [UInt8], _ password: String
  ) -> OpaquePointer? {
    guard key.der.isEmpty else { return key.decrypted(password) }
    return PlainText.of(bytes).withUnsafeBytes { text in
      // It does not copy them.
      guard let source = BIO_new_mem_buf(text.baseAddress, CInt(text.count)) else { return nil }
      defer {
        BIO_free(source)
        ERR_clear_error()
      }
      // Without a callback OpenSSL takes what is behind it for the password.
      return password.withCString {
        PEM_read_bio_PrivateKey(source, nil, nil, UnsafeMutableRawPointer(mutating: $0))
      }
    }
  }
}
