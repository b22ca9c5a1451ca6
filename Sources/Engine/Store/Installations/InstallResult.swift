/// The result of an install.
package struct InstallResult: Sendable, Equatable {
  package enum Status: String, Sendable {
    case created
    /// The token was the same user's before.
    case updated
    /// Another user had it, who receives nothing on this device any more.
    case moved
    /// `create` only: somebody has it, nothing was changed.
    case conflict
  }

  package let status: Status
  /// The existing one where there was one.
  package let objectID: String
  /// Who had the token; empty when nobody.
  package let previousUser: String
  /// How many of the user's bindings made room: a user has at most `Limits.installationsPerUserMax`.
  package var evicted = 0
}
