internal import COpenSSL

/// Whom a client trusts: certificate authorities, read once and shared by any number of contexts. A system's authorities
/// take most of a megabyte, and some 15 ms to read.
package final class TrustStore: @unchecked Sendable {
  /// An `X509_STORE *`, which OpenSSL locks by itself.
  let raw: OpaquePointer

  /// - Parameter caFile: extra authorities in PEM or DER, trusted beside the system's.
  package convenience init(caFile: String?) throws(TLSError) {
    try self.init(
      authorities: try caFile.map { (file) throws(TLSError) in try Self.read(file) },
      file: caFile ?? "")
  }

  /// - Parameters:
  ///   - authorities: extra authorities in PEM or DER, trusted beside the system's; nil for none.
  ///   - file: the source that errors name.
  package init(authorities: [UInt8]?, file: String) throws(TLSError) {
    guard let raw = X509_STORE_new() else {
      throw TLSError.fromQueue("cannot make a store of certificate authorities")
    }
    self.raw = raw
    guard X509_STORE_set_default_paths(raw) == 1 else {
      throw TLSError.fromQueue("cannot load the system's certificate authorities")
    }
    if let authorities { try add(authorities, file) }
  }

  private func add(_ bytes: [UInt8], _ file: String) throws(TLSError) {
    for authority in try Self.authorities(bytes, file) {
      guard let certificate = authority.makeCertificate() else { continue }
      defer { X509_free(certificate) }
      guard X509_STORE_add_cert(raw, certificate) == 1 else {
        throw TLSError.fromQueue("cannot trust a certificate of \(file)")
      }
    }
  }

  /// The authorities of a file in PEM, for libraries that read nothing else.
  package static func pem(_ caFile: String) throws(TLSError) -> [UInt8] {
    try pem(of: try read(caFile), file: caFile)
  }

  /// The authorities in PEM, whatever form they have.
  /// - Parameter file: the source that errors name.
  package static func pem(of content: [UInt8], file: String) throws(TLSError) -> [UInt8] {
    guard let text = BIO_new(BIO_s_mem()) else { throw TLSError.fromQueue("cannot make a buffer") }
    defer { BIO_free(text) }
    for authority in try authorities(content, file) {
      guard let certificate = authority.makeCertificate() else { continue }
      defer { X509_free(certificate) }
      PEM_write_bio_X509(text, certificate)
    }
    var start: UnsafeMutablePointer<CChar>?
    let count = copenssl_bio_get_mem_data(text, &start)
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The content of a file of authorities.
  private static func read(_ file: String) throws(TLSError) -> [UInt8] {
    do throws(CredentialFileError) {
      return try CredentialFile.read(file, bytesMax: ReactorLimits.authoritiesFileBytesMax)
    } catch {
      throw TLSError(error.description)
    }
  }

  private static func authorities(_ bytes: [UInt8], _ file: String) throws(TLSError) -> [KeyObject]
  {
    let found: KeyFileContent
    do throws(CredentialFileError) {
      found = try KeyFileContent(bytes, file: file, remedy: remedy)
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
