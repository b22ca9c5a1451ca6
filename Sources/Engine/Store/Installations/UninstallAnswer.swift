/// The result of a removal.
package enum UninstallAnswer: String, Sendable {
  case removed
  case absent
  /// Uninstall for an owner: another user has the token now.
  case otherOwner = "other_owner"
  /// Invalidation: the binding is not the one that the verdict is about.
  case stale
}
