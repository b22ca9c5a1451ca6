internal import COpenSSL

/// Whom a client trusts: certificate authorities, read once and shared by any number of contexts. A system's authorities
/// take most of a megabyte, and some 15 ms to read.
package final class TrustStore: @unchecked Sendable {
  /// An `X509_STORE *`, which OpenSSL locks by itself.
  let raw: OpaquePointer

  /// - Parameter caFile: extra authorities (PEM), trusted beside the system's.
  package init(caFile: String?) throws(TLSError) {
    guard let raw = X509_STORE_new() else {
      throw TLSError.fromQueue("cannot make a store of certificate authorities")
    }
    self.raw = raw
    guard X509_STORE_set_default_paths(raw) == 1 else {
      throw TLSError.fromQueue("cannot load the system's certificate authorities")
    }
    if let caFile, X509_STORE_load_locations(raw, caFile, nil) != 1 {
      throw TLSError.fromQueue("cannot load the certificate authority \(caFile)")
    }
  }

  deinit { X509_STORE_free(raw) }
}
