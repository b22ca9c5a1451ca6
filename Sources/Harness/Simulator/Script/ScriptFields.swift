internal import Model

/// The members of one object of a script, read strictly.
struct ScriptFields {
  let pointer: String
  private let object: JSONObject

  init(_ value: JSONValue, pointer: String, known: [String]) throws(InvalidField) {
    guard let object = value.objectValue else {
      throw InvalidField(pointer: pointer, message: "must be an object, not \(value.kindName)")
    }
    for member in object.members where !known.contains(member.name) {
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: pointer),
        message: NearestName.unknownField(member.name, among: known))
    }
    self.pointer = pointer
    self.object = object
  }

  func contains(_ name: String) -> Bool { object[name] != nil }

  private func invalid(_ name: String, _ message: String) -> InvalidField {
    InvalidField(pointer: FieldPointer.child(name, of: pointer), message: message)
  }

  func required<Value>(_ value: Value?, _ name: String) throws(InvalidField) -> Value {
    guard let value else { throw invalid(name, "is missing; give a number") }
    return value
  }

  func text(_ name: String) throws(InvalidField) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.stringValue else {
      throw invalid(name, "must be a string, not \(value.kindName)")
    }
    return text
  }

  /// Text that can stand in a header field.
  func headerValue(_ name: String) throws(InvalidField) -> String? {
    guard let text = try text(name) else { return nil }
    let isPrintable = text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    guard isPrintable, (1...SimulatorLimits.scriptHeaderBytesMax).contains(text.utf8.count) else {
      throw invalid(
        name, "must be 1 to \(SimulatorLimits.scriptHeaderBytesMax) printable ASCII characters")
    }
    return text
  }

  func flag(_ name: String) throws(InvalidField) -> Bool? {
    guard let value = object[name] else { return nil }
    guard let flag = value.boolValue else {
      throw invalid(name, "must be true or false, not \(value.kindName)")
    }
    return flag
  }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws(InvalidField) -> Int64? {
    guard let value = object[name] else { return nil }
    guard let number = value.int64Value, range.contains(number) else {
      throw invalid(
        name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func count(_ name: String) throws(InvalidField) -> Int? {
    try integer(name, in: 0...1_000_000_000).map { Int($0) }
  }

  func share(_ name: String) throws(InvalidField) -> Double? {
    guard let value = object[name] else { return nil }
    guard case .number(let number) = value, let share = number.double, (0...1).contains(share)
    else { throw invalid(name, "must be a number from 0 to 1") }
    return share
  }

  func choice<Choice: RawRepresentable<String>>(
    _ name: String, among choices: [Choice]
  ) throws(InvalidField) -> Choice? {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let known = choices.map(\.rawValue).joined(separator: ", ")
      throw invalid(name, "must be one of: \(known)")
    }
    return choice
  }

  func object<Value>(
    _ name: String, known: [String],
    _ read: (ScriptFields) throws(InvalidField) -> Value
  ) throws(InvalidField) -> Value? {
    guard let value = object[name] else { return nil }
    return try read(
      ScriptFields(value, pointer: FieldPointer.child(name, of: pointer), known: known))
  }

  func list<Value>(
    _ name: String, countMax: Int,
    _ read: (JSONValue, String) throws(InvalidField) -> Value
  ) throws(InvalidField) -> [Value] {
    guard let value = object[name] else { return [] }
    guard let items = value.arrayValue, items.count <= countMax else {
      throw invalid(name, "must be a list of at most \(countMax)")
    }
    let listPointer = FieldPointer.child(name, of: pointer)
    var values: [Value] = []
    for (index, item) in items.enumerated() {
      values.append(try read(item, FieldPointer.element(index, of: listPointer)))
    }
    return values
  }
}
