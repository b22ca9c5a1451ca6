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
