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

/// An authorisation of requests to a push network for a while.
package struct Credential: Sendable, Equatable {
  /// The value of the `authorization` header; nil when the TLS certificate authorises.
  package let header: String?
  /// Grows with each renewal; says which credential a refusal was about.
  package let generation: UInt64
  /// When the network stops accepting it, epoch milliseconds; `Int64.max` when never.
  package let expiresAtMs: Int64
  /// From here on `CredentialSource.current` may give a newer one, epoch milliseconds.
  package let refreshAtMs: Int64

  package init(header: String?, generation: UInt64, expiresAtMs: Int64, refreshAtMs: Int64) {
    self.header = header
    self.generation = generation
    self.expiresAtMs = expiresAtMs
    self.refreshAtMs = refreshAtMs
  }
}

/// No credential can be had now: work that needs it is parked, no attempt is burned.
package struct CredentialError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A sentence for the operator: what was refused, by whom, and what to check. Holds no secret.
  package let reason: String
  /// When asking again makes sense, epoch milliseconds.
  package let resumeAtMs: Int64

  package init(reason: String, resumeAtMs: Int64) {
    self.reason = reason
    self.resumeAtMs = resumeAtMs
  }

  package var description: String { reason }
}
