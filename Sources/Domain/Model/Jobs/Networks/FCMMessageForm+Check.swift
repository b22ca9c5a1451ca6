extension FCMMessageForm {
  /// Checks a job's `fcm.message`, and spells its fields as FCM documents them, so that they meet those of the common part.
  /// A field that is null stays: FCM takes it for one that is not there. An empty array is an empty object where an object
  /// may stand, as PHP writes one.
  static func checked(
    _ message: JSONObject, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    guard case .object(let fields) = Self.message else { return message }
    return try checked(message, fields, at: pointer)
  }

  private func checked(
    _ value: JSONValue, at pointer: String
  ) throws(InvalidField) -> JSONValue {
    switch self {
    case .text:
      guard case .string = value else { throw Self.mistyped(value, "a string", pointer) }
    case .flag:
      guard case .bool = value else { throw Self.mistyped(value, "true or false", pointer) }
    case .whole: try Self.checkWhole(value, at: pointer)
    case .number:
      guard case .number = value else { throw Self.mistyped(value, "a number", pointer) }
      try Self.checkNumbers(value, at: pointer)
    case .texts(let isData):
      return .object(try Self.checkedTexts(value, isData: isData, at: pointer))
    case .list(let element):
      guard case .array(let items) = value else {
        throw Self.mistyped(value, "an array", pointer)
      }
      for (index, item) in items.enumerated() {
        _ = try element.checked(item, at: FieldPointer.element(index, of: pointer))
      }
    case .duration(let secondsMax):
      try Self.checkDuration(value, secondsMax: secondsMax, at: pointer)
    case .instant:
      let wanted = "an RFC 3339 instant such as 2026-11-21T09:30:00Z"
      guard case .string(let text) = value else { throw Self.mistyped(value, wanted, pointer) }
      guard RFC3339.milliseconds(text) != nil else {
        throw Self.refused(text, wanted, pointer)
      }
    case .choice(let names):
      let wanted = "one of \(names.joined(separator: ", "))"
      guard case .string(let text) = value else { throw Self.mistyped(value, wanted, pointer) }
      guard names.contains(text.uppercased()) else { throw Self.refused(text, wanted, pointer) }
    case .object(let fields):
      return .object(try Self.checked(Self.map(value, at: pointer), fields, at: pointer))
    case .passedOn:
      let object = JSONValue.object(try Self.map(value, at: pointer))
      try Self.checkNumbers(object, at: pointer)
      return object
    case .leftOut(let reason):
      throw InvalidField(pointer: pointer, message: "must be left out: \(reason)")
    }
    return value
  }

  private static func checked(
    _ object: JSONObject, _ fields: [(name: String, form: FCMMessageForm)], at pointer: String
  ) throws(InvalidField) -> JSONObject {
    var result = JSONObject()
    for member in object.members {
      let place = FieldPointer.child(member.name, of: pointer)
      guard let field = fields.first(where: { isSame($0.name, member.name) }) else {
        throw InvalidField(
          pointer: place,
          message: NearestName.unknownField(
            member.name, among: fields.filter { !$0.form.isLeftOut }.map(\.name)))
      }
      let value =
        member.value == .null && !field.form.isLeftOut
        ? .null : try field.form.checked(member.value, at: place)
      guard result.insert(value, for: field.name) else {
        throw InvalidField(
          pointer: place,
          message: "is there twice, as \(field.name) and in camel case: keep one of them")
      }
    }
    return result
  }

  private var isLeftOut: Bool {
    if case .leftOut = self { true } else { false }
  }

  private static func isSame(_ name: String, _ given: String) -> Bool {
    TextRule.isSame(name, given) || TextRule.isSame(camelCased(name), given)
  }

  private static func camelCased(_ name: String) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words[0])) {
      $0 + $1.prefix(1).uppercased() + $1.dropFirst()
    }
  }

  private static func map(
    _ value: JSONValue, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    guard let object = value.mapValue else { throw mistyped(value, "an object", pointer) }
    return object
  }

  private static func checkedTexts(
    _ value: JSONValue, isData: Bool, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    let object = try map(value, at: pointer)
    if isData { _ = try Notification.DataEntry.entries(of: object, at: pointer) }
    for member in object.members {
      if case .string = member.value { continue }
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: pointer),
        message: "must be a string, is \(member.value.kindName): FCM carries strings only here, "
          + "so write it in quotes")
    }
    return object
  }

  /// Protobuf's JSON takes a whole number in quotes, too.
  private static func checkWhole(_ value: JSONValue, at pointer: String) throws(InvalidField) {
    let wanted = "a whole number from \(Int32.min) to \(Int32.max)"
    switch value {
    case .number(let number):
      guard Int32(number.text) != nil else { throw refused(number.text, wanted, pointer) }
    case .string(let text):
      guard Int32(text) != nil else { throw refused(text, wanted, pointer) }
    default: throw mistyped(value, wanted, pointer)
    }
  }

  /// A number that no double can hold is none to FCM's reader.
  private static func checkNumbers(_ value: JSONValue, at pointer: String) throws(InvalidField) {
    switch value {
    case .number(let number):
      guard number.double == nil else { return }
      throw InvalidField(
        pointer: pointer, message: "is a number beyond all that FCM reads: write it as a string")
    case .array(let items):
      for (index, item) in items.enumerated() {
        try checkNumbers(item, at: FieldPointer.element(index, of: pointer))
      }
    case .object(let object):
      for member in object.members {
        try checkNumbers(member.value, at: FieldPointer.child(member.name, of: pointer))
      }
    case .null, .bool, .string: break
    }
  }

  private static func checkDuration(
    _ value: JSONValue, secondsMax: Int, at pointer: String
  ) throws(InvalidField) {
    let wanted =
      "a string of 0 to \(secondsMax) seconds with an s behind them, such as \"3600s\""
    guard case .string(let text) = value else { throw mistyped(value, wanted, pointer) }
    guard text.utf8.last == UInt8(ascii: "s") else { throw refused(text, wanted, pointer) }
    let parts = text.utf8.dropLast().split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy(isDigits),
      let seconds = Int(String(Substring(parts[0]))), seconds <= secondsMax,
      parts.count == 1 || parts[1].count <= nanosecondDigits
    else { throw refused(text, wanted, pointer) }
    // The most there may be, and a fraction more.
    let isWhole = parts.count == 1 || parts[1].allSatisfy { $0 == UInt8(ascii: "0") }
    guard seconds < secondsMax || isWhole else { throw refused(text, wanted, pointer) }
  }

  private static let nanosecondDigits = 9

  private static func isDigits(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func mistyped(
    _ value: JSONValue, _ wanted: String, _ pointer: String
  ) -> InvalidField {
    InvalidField(pointer: pointer, message: "must be \(wanted), is \(value.kindName)")
  }

  private static func refused(
    _ text: String, _ wanted: String, _ pointer: String
  ) -> InvalidField {
    InvalidField(
      pointer: pointer, message: "must be \(wanted), is \"\(FieldPointer.printable(text))\"")
  }
}
