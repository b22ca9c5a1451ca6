internal import Model

/// Tells of an entry that was added to a work stream. Only a sign: the entry may be somebody else's by the time of a claim.
package struct WorkSign: Sendable, Equatable {
  package let kind: WorkKind
  let priority: Priority
  let entry: EntryID
}
