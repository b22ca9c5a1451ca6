internal import COpenSSL
internal import Glibc

extension ClientIdentity {
  /// When the certificate ceases to hold (`notAfter`; RFC 5280, 4.1.2.5), in epoch milliseconds; nil when it does not say so in
  /// a form that can be read.
  package var expiresAtMs: Int64? {
    var date = tm()
    guard ASN1_TIME_to_tm(X509_get0_notAfter(material.certificate), &date) == 1 else { return nil }
    return Int64(timegm(&date)) * 1_000
  }
}
