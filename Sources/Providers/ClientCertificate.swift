/// The files of a TLS client certificate, checked to be readable when the providers are built.
package struct ClientCertificate: Sendable, Hashable {
  /// PKCS#12, or PEM with certificate and key.
  package let file: String
  /// Holds the password of a PKCS#12 file on its first line; nil when it has none.
  package let passwordFile: String?

  package init(file: String, passwordFile: String?) {
    self.file = file
    self.passwordFile = passwordFile
  }
}
