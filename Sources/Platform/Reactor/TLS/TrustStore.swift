internal import COpenSSL

/// Whom a client trusts: certificate authorities, read once and shared by any number of contexts. A system's authorities
/// take most of a megabyte, and some 15 ms to read.
package final class TrustStore: @unchecked Sendable {
  /// An `X509_STORE *`, which OpenSSL locks by itself.
  let raw: OpaquePointer

  /// - Parameter caFile: extra authorities in PEM or DER, trusted beside the system's.
  package init(caFile: String?) throws(TLSError) {
    guard let raw = X509_STORE_new() else {
      throw TLSError.fromQueue("cannot make a store of certificate authorities")
    }
    self.raw = raw
    guard X509_STORE_set_default_paths(raw) == 1 else {
      throw TLSError.fromQueue("cannot load the system's certificate authorities")
    }
    if let caFile { try add(caFile) }
  }

  private func add(_ file: String) throws(TLSError) {
    for authority in try Self.authorities(file) {
      guard let certificate = authority.makeCertificate() else { continue }
      defer { X509_free(certificate) }
      guard X509_STORE_add_cert(raw, certificate) == 1 else {
        throw TLSError.fromQueue("cannot trust a certificate of \(file)")
      }
    }
  }

  /// The authorities of a file in PEM, for libraries that read nothing else.
  package static func pem(_ caFile: String) throws(TLSError) -> [UInt8] {
    guard let text = BIO_new(BIO_s_mem()) else { throw TLSError.fromQueue("cannot make a buffer") }
    defer { BIO_free(text) }
    for authority in try authorities(caFile) {
      guard let certificate = authority.makeCertificate() else { continue }
      defer { X509_free(certificate) }
      PEM_write_bio_X509(text, certificate)
    }
    var start: UnsafeMutablePointer<CChar>?
    let count = copenssl_bio_get_mem_data(text, &start)
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  private static func authorities(_ file: String) throws(TLSError) -> [KeyObject] {
    let found: KeyFileContent
    do throws(CredentialFileError) {
      found = try KeyFileContent(
        try CredentialFile.read(file, bytesMax: ReactorLimits.authoritiesFileBytesMax), file: file,
        remedy: remedy)
    } catch {
      throw TLSError(error.description)
    }
    let authorities = found.all(.certificate)
    guard !authorities.isEmpty else {
      throw TLSError("\(file) holds \(found.summary), but no certificate; \(remedy)")
    }
    return authorities
  }

  private static let remedy = "give the certificates of the authorities to trust, as PEM"

  deinit { X509_STORE_free(raw) }
}
