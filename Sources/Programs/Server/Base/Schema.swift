package import Model

/// JSON Schemas (draft 2020-12) of the shapes in the API's document.
package enum Schema {
  package static func object(
    _ properties: [(String, JSONValue)], required: [String] = [], closed: Bool = false,
    description: String? = nil
  ) -> JSONValue {
    var members = JSONObject()
    for (name, schema) in properties { members[name] = schema }
    var object: JSONObject = ["type": .string("object"), "properties": .object(members)]
    if !required.isEmpty { object["required"] = .array(required.map { .string($0) }) }
    if closed { object["additionalProperties"] = .bool(false) }
    if let description { object["description"] = .string(description) }
    return .object(object)
  }

  package static func string(
    _ description: String? = nil, bytesMax: Int? = nil, format: String? = nil
  ) -> JSONValue {
    var object: JSONObject = ["type": .string("string")]
    // Characters are at most as many as bytes.
    if let bytesMax { object["maxLength"] = .integer(bytesMax) }
    if let format { object["format"] = .string(format) }
    if let description { object["description"] = .string(description) }
    return .object(object)
  }

  package static func choice(_ values: [String], _ description: String? = nil) -> JSONValue {
    var object: JSONObject = [
      "type": .string("string"), "enum": .array(values.map { .string($0) }),
    ]
    if let description { object["description"] = .string(description) }
    return .object(object)
  }

  package static func integer(
    _ description: String? = nil, in range: ClosedRange<Int>? = nil
  ) -> JSONValue {
    var object: JSONObject = ["type": .string("integer")]
    if let range {
      object["minimum"] = .integer(range.lowerBound)
      object["maximum"] = .integer(range.upperBound)
    }
    if let description { object["description"] = .string(description) }
    return .object(object)
  }

  package static func boolean(_ description: String? = nil) -> JSONValue {
    var object: JSONObject = ["type": .string("boolean")]
    if let description { object["description"] = .string(description) }
    return .object(object)
  }

  package static func array(of items: JSONValue, _ description: String? = nil) -> JSONValue {
    var object: JSONObject = ["type": .string("array"), "items": items]
    if let description { object["description"] = .string(description) }
    return .object(object)
  }

  /// A value of this shape, or null.
  package static func nullable(_ schema: JSONValue) -> JSONValue {
    ["anyOf": .array([schema, ["type": .string("null")]])]
  }

  /// An instant as callers give it: epoch milliseconds, or RFC 3339.
  package static func anyInstant(_ description: String) -> JSONValue {
    [
      "anyOf": .array([
        instant(description), ["type": .string("string"), "format": .string("date-time")],
      ])
    ]
  }

  /// An instant in epoch milliseconds.
  package static func instant(_ description: String) -> JSONValue {
    .object([
      "type": .string("integer"), "format": .string("int64"),
      "description": .string("\(description), in epoch milliseconds"),
    ])
  }
}
