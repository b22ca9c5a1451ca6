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

  /// Reads a PEM file with the private key (unencrypted) and the certificate, leaf first.
  package init(pemFile path: String) throws(TLSError) {
    guard let bio = BIO_new_file(path, "r") else {
      throw TLSError.fromQueue("cannot read the client certificate \(path)")
    }
    defer { BIO_free(bio) }
    guard let certificate = PEM_read_bio_X509(bio, nil, nil, nil) else {
      throw TLSError.fromQueue("\(path) holds no PEM certificate")
    }
    var chain: [OpaquePointer] = []
    while let extra = PEM_read_bio_X509(bio, nil, nil, nil) { chain.append(extra) }
    ERR_clear_error()
    let keyBIO = BIO_new_file(path, "r")
    defer { BIO_free(keyBIO) }
    guard let key = PEM_read_bio_PrivateKey(keyBIO, nil, refusePassword, nil) else {
      X509_free(certificate)
      for extra in chain { X509_free(extra) }
      throw TLSError.fromQueue("\(path) holds no unencrypted PEM private key")
    }
    material = Material(certificate: certificate, key: key, chain: chain)
    try checkPair(path)
  }

  /// Reads a PKCS#12 file, as Apple's developer site gives out.
  package init(p12File path: String, password: String) throws(TLSError) {
    guard let bio = BIO_new_file(path, "rb") else {
      throw TLSError.fromQueue("cannot read the client certificate \(path)")
    }
    defer { BIO_free(bio) }
    guard let p12 = d2i_PKCS12_bio(bio, nil) else {
      throw TLSError.fromQueue("\(path) is not a PKCS#12 file")
    }
    defer { PKCS12_free(p12) }
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    guard PKCS12_parse(p12, password, &key, &certificate, &others) == 1 else {
      throw TLSError.fromQueue(
        "cannot open \(path) (wrong password, or a cipher OpenSSL 3 calls legacy)")
    }
    defer { copenssl_certificates_free(others) }
    guard let key, let certificate else {
      EVP_PKEY_free(key)
      X509_free(certificate)
      throw TLSError("\(path) must hold both a certificate and its private key")
    }
    material = Material(
      certificate: certificate, key: key, chain: Self.issuers(of: certificate, among: others))
    try checkPair(path)
  }

  /// The intermediate certificates that lead to an authority, each the issuer of the one before it. A root is not
  /// sent: the peer has it or does not trust it.
  private static func issuers(of leaf: OpaquePointer, among others: OpaquePointer?)
    -> [OpaquePointer]
  {
    var left: [OpaquePointer] = []
    while let certificate = copenssl_certificates_pop(others) { left.append(certificate) }
    var chain: [OpaquePointer] = []
    var last = leaf
    while let index = left.firstIndex(where: {
      X509_check_issued($0, last) == X509_V_OK && X509_check_issued($0, $0) != X509_V_OK
    }) {
      last = left.remove(at: index)
      chain.append(last)
    }
    for certificate in left { X509_free(certificate) }
    return chain
  }

  private func checkPair(_ path: String) throws(TLSError) {
    guard X509_check_private_key(material.certificate, material.key) == 1 else {
      throw TLSError.fromQueue("\(path): the private key does not belong to the certificate")
    }
  }
}

/// Without it OpenSSL would ask on the terminal for the password of an encrypted key.
private func refusePassword(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: CInt, _ isWriting: CInt,
  _ context: UnsafeMutableRawPointer?
) -> CInt { -1 }
