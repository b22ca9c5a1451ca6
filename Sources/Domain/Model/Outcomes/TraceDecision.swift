/// The decision about a push, as its trace says it.
package enum TraceDecision: String, Sendable, CaseIterable {
  // Outcomes
  case accepted, rejected, uninstalled, expired, skipped, failed
  /// The network called the token dead: the store is asked to remove it.
  case uninstall
  /// The token was not removed: its binding changed after the push was sent. Counts as rejected.
  case kept
  /// Tried again later, as the next attempt.
  case retry
  /// Put aside for later; no attempt is burned.
  case deferred
  /// Sent again at once; no attempt is burned.
  case resend

  /// Whether nothing follows it.
  package var isFinal: Bool {
    switch self {
    case .accepted, .rejected, .uninstalled, .expired, .skipped, .failed, .kept: true
    case .uninstall, .retry, .deferred, .resend: false
    }
  }
}
