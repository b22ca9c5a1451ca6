/// Reads one object of our own schema: every name must be known, every value of its type.
package struct FieldReader {
  package let object: JSONObject
  /// Where the object is in its document.
  package let pointer: String
  /// The signs of its names: most fields of a schema are not there, and no name need be compared to know it.
  private let signs: UInt64

  package init(
    _ value: JSONValue, at pointer: String, known: [String]
  ) throws(InvalidField) {
    guard case .object(let object) = value else {
      throw InvalidField(pointer: pointer, message: "must be an object, is \(value.kindName)")
    }
    for member in object.members {
      // Nearly all names differ in length already.
      let count = member.name.utf8.count
      if known.contains(where: { $0.utf8.count == count && TextRule.isSame($0, member.name) }) {
        continue
      }
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: pointer),
        message: NearestName.unknownField(member.name, among: known))
    }
    self.object = object
    self.pointer = pointer
    signs = object.members.reduce(0) { $0 | Self.sign(of: $1.name) }
  }

  /// One bit of 64, by the length and the first letter.
  private static func sign(of name: String) -> UInt64 {
    TextRule.withBytes(name) { 1 << UInt64(($0.count &* 27 &+ Int($0.first ?? 0)) & 63) }
  }

  /// The value of a field; nil when it is not there.
  package subscript(name: String) -> JSONValue? {
    signs & Self.sign(of: name) == 0 ? nil : object[name]
  }

  package func pointer(to name: String) -> String { FieldPointer.child(name, of: pointer) }

  package func has(_ name: String) -> Bool { self[name] != nil }

  package func refused(_ name: String, _ message: String) -> InvalidField {
    InvalidField(pointer: pointer(to: name), message: message)
  }

  private func mistyped(_ name: String, _ wanted: String, _ value: JSONValue) -> InvalidField {
    if value == .null {
      return refused(name, "must be \(wanted), is null: leave the field out instead")
    }
    return refused(name, "must be \(wanted), is \(value.kindName)")
  }

  package func string(_ name: String) throws(InvalidField) -> String? {
    guard let value = self[name] else { return nil }
    guard case .string(let text) = value else { throw mistyped(name, "a string", value) }
    return text
  }

  package func requiredString(_ name: String, why: String) throws(InvalidField) -> String {
    guard let text = try string(name) else { throw refused(name, "is missing: \(why)") }
    return text
  }

  /// A string of 1 to `bytesMax` bytes without control characters.
  func boundedText(_ name: String, bytesMax: Int) throws(InvalidField) -> String? {
    guard let text = try string(name) else { return nil }
    do { try TextRule.check(text, bytesMax: bytesMax) } catch {
      throw refused(name, error.message)
    }
    return text
  }

  /// A string of 1 to `bytesMax` bytes that is sent as the value of a header.
  func headerValue(_ name: String, bytesMax: Int) throws(InvalidField) -> String? {
    guard let text = try string(name) else { return nil }
    do { try TextRule.checkHeaderValue(text, bytesMax: bytesMax) } catch {
      throw refused(name, error.message)
    }
    return text
  }

  /// A string of 1 to `bytesMax` ASCII letters, digits and `others`.
  func word(
    _ name: String, others: StaticString, bytesMax: Int
  ) throws(InvalidField) -> String? {
    guard let text = try string(name) else { return nil }
    guard (1...bytesMax).contains(text.utf8.count), TextRule.isWord(text, others: others) else {
      let marks = "\(others)".map(String.init).joined(separator: " ")
      throw refused(name, "must be 1 to \(bytesMax) ASCII letters, digits or \(marks)")
    }
    return text
  }

  func flag(_ name: String) throws(InvalidField) -> Bool? {
    guard let value = self[name] else { return nil }
    guard case .bool(let flag) = value else { throw mistyped(name, "true or false", value) }
    return flag
  }

  package func integer(
    _ name: String, in range: ClosedRange<Int>
  ) throws(InvalidField) -> Int? {
    guard let value = self[name] else { return nil }
    guard case .number(let number) = value else { throw mistyped(name, "an integer", value) }
    guard let whole = number.int64, let result = Int(exactly: whole), range.contains(result) else {
      throw refused(
        name,
        "must be an integer from \(range.lowerBound) to \(range.upperBound), is \(number.text)")
    }
    return result
  }

  func array(_ name: String) throws(InvalidField) -> [JSONValue]? {
    guard let value = self[name] else { return nil }
    guard case .array(let items) = value else { throw mistyped(name, "an array", value) }
    return items
  }

  func anyObject(_ name: String) throws(InvalidField) -> JSONObject? {
    guard let value = self[name] else { return nil }
    guard case .object(let object) = value else { throw mistyped(name, "an object", value) }
    return object
  }

  /// An object that may be empty (`JSONValue.mapValue`).
  func map(_ name: String) throws(InvalidField) -> JSONObject? {
    guard let value = self[name] else { return nil }
    guard let object = value.mapValue else { throw mistyped(name, "an object", value) }
    return object
  }

  /// One of the names of a closed set.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of type: Choice.Type
  ) throws(InvalidField) -> Choice? where Choice.RawValue == String {
    guard let text = try string(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw refused(name, Self.notAChoice(text, of: type))
    }
    return choice
  }

  static func notAChoice<Choice: RawRepresentable & CaseIterable>(
    _ text: String, of type: Choice.Type
  ) -> String where Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue)
    let hint =
      NearestName.suggestion(for: text, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
    return "must be one of \(names.joined(separator: ", ")), is "
      + "\"\(FieldPointer.printable(text))\"\(hint)"
  }

  /// Reads an instant like `instantMs`, and refuses what was surely meant in seconds.
  func recentInstantMs(_ name: String) throws(InvalidField) -> Int64? {
    guard let ms = try instantMs(name) else { return nil }
    guard ms >= Limits.recentInstantMsMin else {
      throw refused(
        name, "is in the year 1973 or before, as epoch milliseconds: are these seconds?")
    }
    return ms
  }

  /// Epoch milliseconds or an RFC 3339 string.
  func instantMs(_ name: String) throws(InvalidField) -> Int64? {
    guard let value = self[name] else { return nil }
    switch value {
    case .number(let number):
      guard let ms = number.int64, (0...Limits.instantMsMax).contains(ms) else {
        throw refused(
          name, "must be epoch milliseconds from 0 to \(Limits.instantMsMax), is \(number.text)")
      }
      return ms
    case .string(let text):
      guard let ms = RFC3339.milliseconds(text) else {
        throw refused(
          name,
          "must be epoch milliseconds or an RFC 3339 instant such as 2026-11-21T09:30:00Z, is "
            + "\"\(FieldPointer.printable(text))\"")
      }
      return ms
    default: throw mistyped(name, "epoch milliseconds or an RFC 3339 string", value)
    }
  }
}
