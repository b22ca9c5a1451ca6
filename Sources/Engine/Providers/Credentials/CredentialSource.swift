/// Hands out the credential of one account at one push network. All lanes share one source.
///
/// Everything a lane needs of a credential goes through these two calls, so that a source may as
/// well get it from another replica.
package protocol CredentialSource: Sendable {
  /// Whether a credential is the value of a header; false where the TLS certificate authorises.
  var hasHeader: Bool { get }

  /// Until when it holds, where that is a certificate's; nil elsewhere.
  var certificate: CertificateExpiry? { get }

  /// The credential to send with now, renewed when it is due.
  ///
  /// Throws while the credential is paused or cannot be obtained; waiting lanes share one renewal.
  func current() async throws(CredentialError) -> Credential

  /// The network refused the credential of this generation.
  ///
  /// Renews at most once and returns what to resend with; throws when the credential is paused.
  /// A refusal of a generation that was replaced in the meantime renews nothing.
  func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential
}

extension CredentialSource {
  package var hasHeader: Bool { true }
  package var certificate: CertificateExpiry? { nil }
}
