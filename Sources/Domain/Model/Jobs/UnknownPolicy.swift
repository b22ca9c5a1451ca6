/// The policy for a connection that was lost after a push was written and before its answer came.
package enum UnknownPolicy: String, Sendable, Hashable, CaseIterable {
  /// Send again: the device may see the push twice, but never not at all.
  case resend
  /// Count it as failed: the device may not see the push, but never sees it twice.
  case giveUp = "give_up"
}
