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
