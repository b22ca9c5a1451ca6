/// What became of a batch of installations.
package struct ImportAnswer: Sendable, Equatable {
  package var created = 0
  package var updated = 0
  package var moved = 0
  /// Positions in the batch that were not taken: no user, or a user with too many installations.
  package var refused: [Int] = []
}
