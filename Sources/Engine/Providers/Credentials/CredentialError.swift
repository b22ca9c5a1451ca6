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
