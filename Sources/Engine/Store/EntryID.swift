/// The id of a stream's entry, `<milliseconds>-<sequence>`.
package struct EntryID: Comparable, Hashable, Sendable {
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
    // By bytes: asked of each entry that is taken, begun and ended.
    var text = text
    let numbers = text.withUTF8 { bytes -> (UInt64, UInt64)? in
      guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")),
        let milliseconds = Self.number(bytes[..<dash]),
        let sequence = Self.number(bytes[(dash + 1)...])
      else { return nil }
      return (milliseconds, sequence)
    }
    guard let numbers else { return nil }
    self.init(milliseconds: numbers.0, sequence: numbers.1)
  }

  /// Nil when it has other bytes than digits, none, or is too large.
  private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = tens.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
      guard !isLarge, !isLarger else { return nil }
      number = sum
    }
    return digits.isEmpty ? nil : number
  }

  package var text: String { "\(milliseconds)-\(sequence)" }

  /// The last id before it; nil for the first of all.
  package var previous: EntryID? {
    if sequence > 0 { return EntryID(milliseconds: milliseconds, sequence: sequence - 1) }
    guard milliseconds > 0 else { return nil }
    return EntryID(milliseconds: milliseconds - 1, sequence: .max)
  }

  package static func < (one: EntryID, other: EntryID) -> Bool {
    (one.milliseconds, one.sequence) < (other.milliseconds, other.sequence)
  }
}
