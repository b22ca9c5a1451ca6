import COpenSSL

/// A certificate's contents before an authority signs it.
struct CertificateRequest {
  var commonName: String
  var key: PrivateKey
  var extensions: [(nid: CInt, value: String)]
  /// How long it holds from now; negative for one that has expired.
  var validSeconds = CertificateRequest.usualSeconds

  /// A certificate made now must hold already where a clock is slow, and still where one is fast.
  private static let startsSecondsAgo = 2 * 86_400
  static let usualSeconds = 3 * 86_400

  /// The signed certificate, to be freed by the caller; without `issuer` it is self-signed.
  func sign(issuer: OpaquePointer?, issuerKey: PrivateKey) throws(LocalServiceError)
    -> OpaquePointer
  {
    guard let certificate = X509_new() else { throw .openSSL("cannot make a certificate") }
    do throws(LocalServiceError) {
      try fill(certificate, issuer: issuer ?? certificate)
      guard X509_sign(certificate, issuerKey.pointer, EVP_sha256()) > 0 else {
        throw LocalServiceError.openSSL("cannot sign a certificate")
      }
    } catch {
      X509_free(certificate)
      throw error
    }
    return certificate
  }

  private func fill(
    _ certificate: OpaquePointer, issuer: OpaquePointer
  ) throws(LocalServiceError) {
    let serial: UInt64 = .random(in: 1...UInt64(Int64.max))
    let name = X509_get_subject_name(certificate)
    // 2 is version 3 (RFC 5280 section 4.1.2.1); 0x1000 | 1 is MBSTRING_ASC, a macro of a cast.
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1,
      X509_gmtime_adj(X509_getm_notBefore(certificate), -CertificateRequest.startsSecondsAgo)
        != nil,
      X509_gmtime_adj(X509_getm_notAfter(certificate), validSeconds) != nil,
      X509_NAME_add_entry_by_txt(name, "CN", 0x1000 | 1, commonName, -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1,
      X509_set_pubkey(certificate, key.pointer) == 1
    else { throw .openSSL("cannot fill in the certificate of \(commonName)") }
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    for (nid, value) in extensions {
      guard let entry = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
        throw .openSSL("cannot make the certificate extension \(value)")
      }
      defer { X509_EXTENSION_free(entry) }
      guard X509_add_ext(certificate, entry, -1) == 1 else {
        throw .openSSL("cannot add the certificate extension \(value)")
      }
    }
  }
}
