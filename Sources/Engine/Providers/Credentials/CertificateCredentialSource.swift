/// Authorisation by TLS client certificate: there is no header, and nothing that could be renewed.
package struct CertificateCredentialSource: CredentialSource {
  package let hasHeader = false
  package let certificate: CertificateExpiry?

  private static let credential = Credential(
    header: nil, generation: 0, expiresAtMs: .max, refreshAtMs: .max)
  private let place: SecretPlace
  private let clock: WallClock
  private let pause = CredentialPause()

  /// - Parameters:
  ///   - place: where the certificate came from, for messages.
  ///   - expiresAtMs: its `notAfter`, in epoch milliseconds; nil when that is not known.
  package init(_ place: SecretPlace, expiresAtMs: Int64? = nil, clock: WallClock = .system) {
    self.place = place
    certificate = expiresAtMs.map { CertificateExpiry(place, expiresAtMs: $0) }
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
    let cause = certificate?.cause(nowMs: nowMs).map { "\($0): \(place.remedy)" }
    throw pause.begin(
      because: "APNs refused \(place.certificate): \(reason); "
        + (cause ?? "\(place.remedy) or check that it is for this app and environment"),
      nowMs: nowMs)
  }
}
