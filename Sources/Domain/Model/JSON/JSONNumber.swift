/// A number as it was written, so that passing it on changes nothing.
package struct JSONNumber: Sendable, Equatable {
  /// The source text, which keeps RFC 8259's grammar.
  package let text: String

  /// For the parser, which has checked the grammar.
  init(checked text: String) { self.text = text }

  package init(_ value: Int64) { text = String(value) }

  /// The value when it was written as an integer and fits.
  package var int64: Int64? { Int64(text) }

  /// The nearest double; nil when it is beyond the largest one.
  package var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
