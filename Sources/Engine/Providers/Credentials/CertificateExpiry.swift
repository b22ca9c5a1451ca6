internal import Model

/// Until when the certificate holds that an app shows its push network.
package struct CertificateExpiry: Sendable, Equatable {
  /// Where the certificate came from, for messages.
  package let place: SecretPlace
  /// Epoch milliseconds.
  package let expiresAtMs: Int64

  package init(_ place: SecretPlace, expiresAtMs: Int64) {
    self.place = place
    self.expiresAtMs = expiresAtMs
  }

  package func isPast(nowMs: Int64) -> Bool { nowMs >= expiresAtMs }

  /// The sentence for operators; nil while the certificate holds for longer than `CredentialLimits.certificateNoticeMs`.
  package func sentence(nowMs: Int64) -> String? {
    guard expiresAtMs - nowMs <= CredentialLimits.certificateNoticeMs else { return nil }
    let remedy =
      "get a new one from Apple's developer site and \(place.remedy); workers take it by themselves"
    if let past = cause(nowMs: nowMs) { return "\(past): \(remedy)" }
    let days = (expiresAtMs - nowMs) / Self.dayMs
    return
      "\(place.certificate) expires on \(day), in \(days) day\(days == 1 ? "" : "s"): \(remedy)"
  }

  /// The end of one that holds, as a sentence.
  package var term: String { "\(place.certificate) holds until \(day)" }

  /// The cause of refusals once it is past; else nil.
  package func cause(nowMs: Int64) -> String? {
    isPast(nowMs: nowMs) ? "\(place.certificate) expired on \(day)" : nil
  }

  private static let dayMs: Int64 = 86_400_000

  /// In UTC.
  private var day: String {
    CivilDate(daysSinceEpoch: Int((Double(expiresAtMs) / Double(Self.dayMs)).rounded(.down))).text
  }
}
