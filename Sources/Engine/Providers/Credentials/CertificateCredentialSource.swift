/// Authorisation by TLS client certificate: there is no header, and nothing that could be renewed.
package struct CertificateCredentialSource: CredentialSource {
  package let hasHeader = false

  private static let credential = Credential(
    header: nil, generation: 0, expiresAtMs: .max, refreshAtMs: .max)
  private let file: String
  private let clock: WallClock
  private let pause = CredentialPause()

  /// - Parameter file: the certificate's file, for messages.
  package init(file: String, clock: WallClock = .system) {
    self.file = file
    self.clock = clock
  }

  package func current() async throws(CredentialError) -> Credential {
    if let error = pause.error(nowMs: clock.nowMs()) { throw error }
    return Self.credential
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    let nowMs = clock.nowMs()
    throw pause.begin(
      CredentialError(
        reason: "APNs refused the certificate \(file): \(reason); replace the file or "
          + "check that it is for this app and environment",
        resumeAtMs: nowMs + CredentialLimits.refusedPauseMs),
      nowMs: nowMs)
  }
}
