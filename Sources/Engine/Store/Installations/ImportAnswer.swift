/// The result of storing a batch of installations.
package struct ImportAnswer: Sendable, Equatable {
  package var created = 0
  package var updated = 0
  package var moved = 0
  /// Bindings that made room: a user has at most `Limits.installationsPerUserMax`.
  package var evicted = 0
}
