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
