/// Holds a job's `fcm.message` to the form of FCM's own.
struct FCMMessageCheck {
  /// Whether the job goes to one installation, of which a message may then say more.
  let isForOne: Bool
  /// Whether texts are filled in for each user: what a placeholder becomes is FCM's to judge.
  let isFilledIn: Bool

  /// Checks a message, and spells its fields as FCM documents them, so that they meet those of the common part. A field that
  /// is null stays: FCM takes it for one that is not there. An empty array is an empty object where an object may stand
  /// (`JSONValue.mapValue`).
  func checked(_ message: JSONObject, at pointer: String) throws(InvalidField) -> JSONObject {
    try checked(message, FCMMessageForm.message, at: pointer)
  }

  private func checked(
    _ object: JSONObject, _ fields: [FCMMessageForm.Field], at pointer: String
  ) throws(InvalidField) -> JSONObject {
    var result = JSONObject()
    for member in object.members {
      let place = FieldPointer.child(member.name, of: pointer)
      guard let field = Self.field(member.name, among: fields) else {
        throw InvalidField(
          pointer: place,
          message: NearestName.unknownField(
            member.name, among: fields.filter { !$0.form.isTarget }.map(\.name)))
      }
      let isLeftOut = member.value == .null && !field.form.isTarget
      let value = isLeftOut ? .null : try checked(member.value, field.form, at: place)
      guard result.insert(value, for: field.name) else {
        throw InvalidField(
          pointer: place,
          message: "is there twice, as \(field.name) and in camel case: keep one of them")
      }
    }
    return result
  }

  /// The field of this name; FCM's reader takes names in camel case, too.
  private static func field(
    _ name: String, among fields: [FCMMessageForm.Field]
  ) -> FCMMessageForm.Field? {
    if let field = fields.first(where: { TextRule.isSame($0.name, name) }) { return field }
    guard name.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
    else { return nil }
    return fields.first { TextRule.isSame(camelCased($0.name), name) }
  }

  private static func camelCased(_ name: String) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words[0])) {
      $0 + $1.prefix(1).uppercased() + $1.dropFirst()
    }
  }

  private func checked(
    _ value: JSONValue, _ form: FCMMessageForm, at pointer: String
  ) throws(InvalidField) -> JSONValue {
    if form.takesPlaceholders, isFilledIn, case .string(let text) = value, text.contains("{{") {
      return value
    }
    switch form {
    case .text:
      guard case .string = value else { throw Self.mistyped(value, "a string", pointer) }
    case .flag:
      guard case .bool = value else { throw Self.mistyped(value, "true or false", pointer) }
    case .number:
      guard Self.number(value) != nil else { throw Self.refused(value, "a number", pointer) }
    case .whole:
      guard let number = Self.number(value), Int32(exactly: number) != nil else {
        throw Self.refused(value, "a whole number from \(Int32.min) to \(Int32.max)", pointer)
      }
    case .duration(let secondsMax):
      guard case .string(let text) = value, Self.isDuration(text, secondsMax: secondsMax) else {
        throw Self.refused(
          value, "a string of 0 to \(secondsMax) seconds with an s behind them, such as \"3600s\"",
          pointer)
      }
    case .instant:
      guard case .string(let text) = value, RFC3339.milliseconds(text) != nil else {
        throw Self.refused(value, "an RFC 3339 instant such as 2026-11-21T09:30:00Z", pointer)
      }
    case .choice(let names):
      guard Self.isChoice(value, of: names) else {
        throw Self.refused(value, "one of \(names.joined(separator: ", "))", pointer)
      }
    case .list(let element):
      guard case .array(let items) = value else {
        throw Self.mistyped(value, "an array", pointer)
      }
      for (index, item) in items.enumerated() {
        _ = try checked(item, element, at: FieldPointer.element(index, of: pointer))
      }
    case .texts(let rule): return .object(try Self.checkedTexts(value, rule, at: pointer))
    case .object(let fields):
      return .object(try checked(Self.map(value, at: pointer), fields, at: pointer))
    case .passedOn:
      let object = JSONValue.object(try Self.map(value, at: pointer))
      try Self.checkNumbers(object, at: pointer)
      return object
    case .target:
      throw InvalidField(
        pointer: pointer, message: "must be left out: the job's audience says who receives it")
    case .ofOneDevice:
      guard isForOne else {
        throw InvalidField(
          pointer: pointer,
          message: "is of one device: give it in a job whose audience is this one installation")
      }
      guard case .string = value else { throw Self.mistyped(value, "a string", pointer) }
    }
    return value
  }

  private static func map(
    _ value: JSONValue, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    guard let object = value.mapValue else { throw mistyped(value, "an object", pointer) }
    return object
  }

  private static func checkedTexts(
    _ value: JSONValue, _ rule: FCMMessageForm.NameRule, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    let object = try map(value, at: pointer)
    for member in object.members {
      let place = FieldPointer.child(member.name, of: pointer)
      if let reason = rule.refusal(of: member.name) {
        throw InvalidField(pointer: place, message: reason)
      }
      if case .string = member.value { continue }
      throw InvalidField(
        pointer: place,
        message: "must be a string, is \(member.value.kindName): FCM carries strings only here, "
          + "so write it in quotes")
    }
    return object
  }

  /// Protobuf's JSON takes a number in quotes, too.
  private static func number(_ value: JSONValue) -> Double? {
    switch value {
    case .number(let number): number.double
    case .string(let text):
      text.utf8.allSatisfy { $0 > 0x20 } ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    default: nil
    }
  }

  /// By its name, in letters of either case, or by its number.
  private static func isChoice(_ value: JSONValue, of names: [String]) -> Bool {
    switch value {
    case .string(let text): names.contains { $0.utf8.elementsEqual(text.utf8.map(upper)) }
    case .number(let number): number.int64.map { names.indices.contains(Int($0)) } ?? false
    default: false
    }
  }

  private static func upper(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte
  }

  private static let nanosecondDigits = 9

  private static func isDuration(_ text: String, secondsMax: Int) -> Bool {
    guard text.utf8.last == UInt8(ascii: "s") else { return false }
    let parts = text.utf8.dropLast().split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy(isDigits),
      let seconds = Int(String(Substring(parts[0]))), seconds <= secondsMax
    else { return false }
    guard parts.count == 2 else { return true }
    let isWhole = parts[1].allSatisfy { $0 == UInt8(ascii: "0") }
    return parts[1].count <= nanosecondDigits && (seconds < secondsMax || isWhole)
  }

  private static func isDigits(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
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

  private static func mistyped(
    _ value: JSONValue, _ wanted: String, _ pointer: String
  ) -> InvalidField {
    InvalidField(pointer: pointer, message: "must be \(wanted), is \(value.kindName)")
  }

  private static func refused(
    _ value: JSONValue, _ wanted: String, _ pointer: String
  ) -> InvalidField {
    switch value {
    case .string(let text):
      InvalidField(
        pointer: pointer, message: "must be \(wanted), is \"\(FieldPointer.printable(text))\"")
    case .number(let number):
      InvalidField(
        pointer: pointer, message: "must be \(wanted), is \(FieldPointer.printable(number.text))")
    default: mistyped(value, wanted, pointer)
    }
  }
}
