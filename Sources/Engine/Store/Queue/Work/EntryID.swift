/// The id of a stream's entry, `<milliseconds>-<sequence>`.
package struct EntryID: Comparable, Sendable {
  var milliseconds: UInt64
  var sequence: UInt64

  init(milliseconds: UInt64, sequence: UInt64) {
    self.milliseconds = milliseconds
    self.sequence = sequence
  }

  /// Before all others.
  static let zero = EntryID(milliseconds: 0, sequence: 0)

  /// Nil when it is no id.
  package init?(_ text: String) {
    // By bytes: asked of each entry that is taken.
    guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")),
      let milliseconds = UInt64(text[..<dash]),
      let sequence = UInt64(text[text.utf8.index(after: dash)...])
    else { return nil }
    self.init(milliseconds: milliseconds, sequence: sequence)
  }

  var text: String { "\(milliseconds)-\(sequence)" }

  package static func < (one: EntryID, other: EntryID) -> Bool {
    (one.milliseconds, one.sequence) < (other.milliseconds, other.sequence)
  }
}
