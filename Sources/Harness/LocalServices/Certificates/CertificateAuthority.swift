import COpenSSL
import Glibc

/// A certificate authority that nobody trusts unless told to, for servers and clients on this
/// machine. It and what it issues hold for one day; keys are EC P-256, files have mode 0600.
///
/// Unchecked Sendable: it never changes, and OpenSSL 3 allows concurrent reads.
package final class CertificateAuthority: @unchecked Sendable {
  /// The authority's own certificate, PEM: what clients trust (`ca_file`).
  package let certificateFile: String
  package let folder: String

  private let key: PrivateKey
  private let certificate: OpaquePointer
  /// The issuer of an intermediate authority, from whose certificate on peers trust.
  private let issuer: CertificateAuthority?

  /// Makes an authority and writes `ca.pem` into the folder.
  package init(folder: String) throws(LocalServiceError) {
    self.folder = folder
    issuer = nil
    certificateFile = "\(folder)/ca.pem"
    key = try PrivateKey.ellipticCurve()
    certificate = try CertificateRequest(
      commonName: "Throwaway CA", key: key,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE"),
        (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
      ]
    ).sign(issuer: nil, issuerKey: key)
    try PrivateFile.write(try pem(certificate), to: certificateFile)
  }

  /// Makes an authority that another one vouches for, and writes `intermediate.pem` into its folder. What it issues
  /// carries its certificate.
  package init(intermediateOf issuer: CertificateAuthority) throws(LocalServiceError) {
    folder = issuer.folder
    self.issuer = issuer
    certificateFile = "\(folder)/intermediate.pem"
    key = try PrivateKey.ellipticCurve()
    certificate = try CertificateRequest(
      commonName: "Throwaway intermediate CA", key: key,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE"),
        (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
        (NID_authority_key_identifier, "keyid"),
      ]
    ).sign(issuer: issuer.certificate, issuerKey: issuer.key)
    try PrivateFile.write(try pem(certificate), to: certificateFile)
  }

  deinit {
    X509_free(certificate)
  }

  /// A certificate for a server whose only name is its common name, which no client should accept. Written to
  /// `common-name-only.pem` and `.key`.
  package func issueServerByCommonName(
    _ name: String
  ) throws(LocalServiceError) -> IssuedCertificate {
    try issue(
      commonName: name, fileName: "common-name-only",
      extensions: [(NID_ext_key_usage, "serverAuth")])
  }

  /// A certificate for a server of these names and IP addresses; the first is its common name.
  /// Written to `<first name>.pem` (with the authority's appended) and `<first name>.key`.
  package func issueServer(
    names: [String] = ["localhost", "127.0.0.1", "::1"]
  ) throws(LocalServiceError) -> IssuedCertificate {
    guard let first = names.first else {
      throw LocalServiceError("a server certificate needs at least one name")
    }
    let alternatives = try names.map { (name) throws(LocalServiceError) in
      try alternativeName(name)
    }
    return try issue(
      commonName: first, fileName: first,
      extensions: [
        (NID_subject_alt_name, alternatives.joined(separator: ",")),
        (NID_ext_key_usage, "serverAuth"),
      ])
  }

  /// A certificate for a client, such as an app's push certificate. Written to `<file name>.pem`,
  /// `.key`, and for one that wants both in one file `.p12`, which the password protects.
  /// - Parameter validDays: how long it holds from now, nil for the usual time; a negative number, at least -1, for one that
  ///   has expired.
  package func issueClient(
    commonName: String, fileName: String = "client", p12Password: String = "",
    validDays: Int? = nil
  ) throws(LocalServiceError) -> IssuedCertificate {
    try issue(
      commonName: commonName, fileName: fileName, extensions: [(NID_ext_key_usage, "clientAuth")],
      p12Password: p12Password, validDays: validDays)
  }

  private func issue(
    commonName: String, fileName: String, extensions: [(nid: CInt, value: String)],
    p12Password: String? = nil, validDays: Int? = nil
  ) throws(LocalServiceError) -> IssuedCertificate {
    let leafKey = try PrivateKey.ellipticCurve()
    let common: [(nid: CInt, value: String)] = [
      (NID_basic_constraints, "critical,CA:FALSE"),
      (NID_key_usage, "critical,digitalSignature"),
      (NID_authority_key_identifier, "keyid"),
    ]
    let leaf = try CertificateRequest(
      commonName: commonName, key: leafKey, extensions: common + extensions,
      validSeconds: validDays.map { $0 * 86_400 } ?? CertificateRequest.usualSeconds
    ).sign(issuer: certificate, issuerKey: key)
    defer { X509_free(leaf) }
    let issued = IssuedCertificate(
      certificateFile: "\(folder)/\(fileName).pem", keyFile: "\(folder)/\(fileName).key",
      authorityFile: certificateFile,
      p12File: p12Password == nil ? nil : "\(folder)/\(fileName).p12",
      combinedFile: "\(folder)/\(fileName)-with-key.pem")
    let chain = try pem(leaf) + pem(certificate)
    let keyText = try leafKey.privatePEM()
    try PrivateFile.write(chain, to: issued.certificateFile)
    try PrivateFile.write(keyText, to: issued.keyFile)
    try PrivateFile.write(chain + keyText, to: issued.combinedFile)
    if let file = issued.p12File, let p12Password {
      try PrivateFile.write(
        try p12(leaf, leafKey, name: commonName, password: p12Password), to: file)
    }
    return issued
  }

  private func p12(
    _ leaf: OpaquePointer, _ leafKey: PrivateKey, name: String, password: String
  ) throws(LocalServiceError) -> [UInt8] {
    let others = copenssl_certificates_of(issuer == nil ? nil : certificate)
    defer { copenssl_certificates_free(others) }
    guard
      let bundle = PKCS12_create(
        password, name, leafKey.pointer, leaf, others, 0, 0, PKCS12_DEFAULT_ITER, 1, 0)
    else { throw .openSSL("cannot make a PKCS #12 file") }
    defer { PKCS12_free(bundle) }
    return try OpenSSLText.collectBytes { i2d_PKCS12_bio($0, bundle) }
  }

  private func pem(_ certificate: OpaquePointer) throws(LocalServiceError) -> String {
    try OpenSSLText.collect { PEM_write_bio_X509($0, certificate) }
  }

  /// `IP:` for what inet_pton(3) reads as an address, else `DNS:`.
  private func alternativeName(_ name: String) throws(LocalServiceError) -> String {
    let isName = name.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default:
        [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "*")].contains($0)
      }
    }
    guard isName, !name.isEmpty else {
      throw LocalServiceError("\"\(name)\" is neither a host name nor an IP address")
    }
    var address = in6_addr()
    let isAddress =
      inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1
    return (isAddress ? "IP:" : "DNS:") + name
  }
}

/// The files of a certificate that a ``CertificateAuthority`` issued.
package struct IssuedCertificate: Sendable {
  /// The certificate and the authority's, PEM.
  package let certificateFile: String
  /// The private key, PEM (PKCS #8).
  package let keyFile: String
  /// The authority's certificate, PEM.
  package let authorityFile: String
  /// Certificate and key as PKCS #12; clients' only.
  package let p12File: String?
  /// Certificate, authority's certificate and key in one PEM file.
  package let combinedFile: String
}
