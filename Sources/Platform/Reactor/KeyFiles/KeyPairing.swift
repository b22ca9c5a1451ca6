internal import COpenSSL

/// Private key and certificates of one file, and which of the certificates is the key's own: files have them in any order.
///
/// Owns OpenSSL's objects until they are taken.
struct KeyPairing: ~Copyable {
  private let key: OpaquePointer
  private var certificates: [OpaquePointer]

  init(key: OpaquePointer, certificates: [OpaquePointer]) {
    self.key = key
    self.certificates = certificates
  }

  deinit {
    EVP_PKEY_free(key)
    for certificate in certificates { X509_free(certificate) }
  }

  /// Nil when no certificate is the key's.
  consuming func identity() -> ClientIdentity.Material? {
    defer { ERR_clear_error() }
    guard let leaf = leaf() else { return nil }
    let chain = issuers(of: leaf)
    EVP_PKEY_up_ref(key)
    for certificate in [leaf] + chain { X509_up_ref(certificate) }
    return ClientIdentity.Material(certificate: leaf, key: key, chain: chain)
  }

  /// Returns the certificate of the key; of several, as each year renews one, the one that holds the longest.
  private func leaf() -> OpaquePointer? {
    var longest: OpaquePointer?
    for certificate in certificates where X509_check_private_key(certificate, key) == 1 {
      if let other = longest,
        ASN1_TIME_compare(X509_get0_notAfter(certificate), X509_get0_notAfter(other)) <= 0
      {
        continue
      }
      longest = certificate
    }
    return longest
  }

  /// The intermediate certificates that lead to an authority, each the issuer of the one before it. A root is not
  /// sent: the peer has it or does not trust it.
  private func issuers(of leaf: OpaquePointer) -> [OpaquePointer] {
    var left = certificates.filter { $0 != leaf }
    var chain: [OpaquePointer] = []
    var last = leaf
    while let index = left.firstIndex(where: {
      X509_check_issued($0, last) == X509_V_OK && X509_check_issued($0, $0) != X509_V_OK
    }) {
      last = left.remove(at: index)
      chain.append(last)
    }
    return chain
  }
}
