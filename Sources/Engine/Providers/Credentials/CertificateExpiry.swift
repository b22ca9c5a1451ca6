internal import Model

/// Until when the certificate holds that an app shows its push network.
package struct CertificateExpiry: Sendable, Equatable {
  /// The certificate's file, for messages.
  package let file: String
  /// Epoch milliseconds.
  package let expiresAtMs: Int64

  package init(file: String, expiresAtMs: Int64) {
    self.file = file
    self.expiresAtMs = expiresAtMs
  }

  package func isPast(nowMs: Int64) -> Bool { nowMs >= expiresAtMs }

  /// The sentence for operators; nil while the certificate holds for longer than `CredentialLimits.certificateNoticeMs`.
  package func sentence(nowMs: Int64) -> String? {
    guard expiresAtMs - nowMs <= CredentialLimits.certificateNoticeMs else { return nil }
    let remedy =
      "get a new one from Apple's developer site and replace the file; workers take it by themselves"
    guard !isPast(nowMs: nowMs) else { return "\(Self.past(self)): \(remedy)" }
    let days = (expiresAtMs - nowMs) / Self.dayMs
    return
      "the certificate \(file) expires on \(day), in \(days) day\(days == 1 ? "" : "s"): \(remedy)"
  }

  /// The cause of refusals once it is past; else nil.
  package func cause(nowMs: Int64) -> String? {
    isPast(nowMs: nowMs) ? Self.past(self) : nil
  }

  private static let dayMs: Int64 = 86_400_000

  private static func past(_ expiry: CertificateExpiry) -> String {
    "the certificate \(expiry.file) expired on \(expiry.day)"
  }

  /// In UTC.
  private var day: String {
    CivilDate(daysSinceEpoch: Int((Double(expiresAtMs) / Double(Self.dayMs)).rounded(.down))).text
  }
}
