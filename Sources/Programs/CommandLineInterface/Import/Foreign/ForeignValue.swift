internal import Model

/// The values of Parse and NCMB that JSON has no form for, and those of MongoDB's Extended JSON.
enum ForeignValue {
  /// The value itself where MongoDB wrote `{"$numberInt": "3"}`; nil for null.
  static func plain(_ value: JSONValue?) -> JSONValue? {
    guard let value, value != .null else { return nil }
    guard let object = value.objectValue, object.count == 1,
      let text = (object["$numberInt"] ?? object["$numberLong"])?.stringValue,
      let number = Int64(text)
    else { return value }
    return .integer(number)
  }

  /// `{"__type": "Date", "iso": "…"}` and `{"$date": …}` as what they hold; other values as they are.
  static func instant(_ value: JSONValue) -> JSONValue {
    guard let object = value.objectValue else { return value }
    return plain(object["iso"] ?? object["$date"]) ?? value
  }

  /// Whom a pointer, a string or a number names; nil when it is none of them.
  static func name(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let number): whole(number)
    case .object(let object): object["objectId"]?.stringValue
    default: nil
    }
  }

  /// The digits of a whole number, also of `17.0`, as MongoDB's export has the numbers of JavaScript; nil for one with a fraction,
  /// or so large that it may not be exact.
  private static func whole(_ number: JSONNumber) -> String? {
    guard number.text.contains(where: { ".eE".contains($0) }) else { return number.text }
    guard let value = number.double, value == value.rounded(), abs(value) < 0x1p53 else {
      return nil
    }
    return String(Int64(value))
  }

  /// The object that a pointer of Parse's database names: `_User$x1` is x1.
  static func databasePointer(_ value: JSONValue) -> String? {
    guard let text = value.stringValue, let mark = text.firstIndex(of: "$") else { return nil }
    return String(text[text.index(after: mark)...])
  }

  /// Returns the text that a custom field can hold of it; nil for arrays and objects.
  static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let number): number.text
    case .bool(let flag): flag ? "true" : "false"
    default: nil
    }
  }
}
