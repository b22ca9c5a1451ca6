/// Any JSON value.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  package static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.number(let one), .number(let other)): one == other
    case (.string(let one), .string(let other)): TextRule.isSame(one, other)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }
}

extension JSONValue {
  package static func integer(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }
  package static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

  package var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  package var boolValue: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  package var arrayValue: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
  package var objectValue: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
  /// The members of an object that may be empty: an empty array counts as one, since PHP writes an empty map so.
  var mapValue: JSONObject? {
    switch self {
    case .object(let object): object
    case .array(let items) where items.isEmpty: JSONObject()
    default: nil
    }
  }
  package var int64Value: Int64? {
    if case .number(let number) = self { number.int64 } else { nil }
  }

  /// The words by which a message calls its kind: "a string", "null".
  package var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue {
  /// Parses what a backend says of an installation or a subscription: one line of NDJSON. A syntax error has an empty pointer.
  package init(document bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    do {
      self = try JSONParser(
        bytesMax: Limits.installationBytesMax, valuesMax: Limits.installationValuesMax
      ).parse(bytes)
    } catch {
      throw InvalidField(pointer: "", message: error.description)
    }
  }
}

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
