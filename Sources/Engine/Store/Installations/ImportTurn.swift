/// The place of a batch among those of one import. A batch takes effect only while none of a later turn has: a copy of
/// it that was delayed changes nothing.
package struct ImportTurn: Sendable {
  let id: String
  private(set) var number = 0

  /// Makes the first turn of a new import.
  package init() { id = InstallationStore.newID() }

  /// Each sending of a batch has a turn of its own, a repeated one too.
  package mutating func advance() { number += 1 }
}
