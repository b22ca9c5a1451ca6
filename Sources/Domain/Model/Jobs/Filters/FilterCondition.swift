/// A condition on one field of an installation. It does not hold where the installation lacks the field.
struct FilterCondition: Sendable, Equatable {
  let field: FilterField
  let test: FilterTest
}

/// The test of a field's value that decides whether a condition holds.
enum FilterTest: Sendable, Equatable {
  case networks([Network])
  case environments([PushEnvironment])
  /// One of these, byte for byte.
  case texts([[UInt8]])
  /// The value is a list, a line for each element, and holds one of these.
  case members([[UInt8]])
  /// In one of these ranges of languages.
  case languages([LanguageTag])
  case version(VersionRange)

  /// Whether it holds of a value that an installation's record has; never of a network or environment, which no record
  /// field holds.
  func holds(of value: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .networks, .environments: false
    case .texts(let texts): texts.contains { $0.elementsEqual(value) }
    case .members(let names):
      value.split(separator: UInt8(ascii: "\n")).contains { member in
        names.contains { $0.elementsEqual(member) }
      }
    case .languages(let ranges): ranges.contains { $0.covers(value) }
    case .version(let range): DottedVersion(leading: value).map(range.contains) ?? false
    }
  }
}

extension FilterCondition {
  static let names = FilterField.common.map(\.name) + ["custom"]

  /// The conditions of an object of fields; at least one.
  static func list(_ reader: FieldReader) throws(InvalidField) -> [FilterCondition] {
    var conditions: [FilterCondition] = []
    for field in FilterField.common where reader.has(field.name) {
      conditions.append(FilterCondition(field: field, test: try test(of: field, reader)))
    }
    return conditions + (try custom(reader))
  }

  private static func test(
    of field: FilterField, _ reader: FieldReader
  ) throws(InvalidField) -> FilterTest {
    let name = field.name
    switch field {
    case .network: return .networks(try choices(name, of: Network.self, reader))
    case .environment: return .environments(try choices(name, of: PushEnvironment.self, reader))
    case .language:
      return .languages(
        try values(name, reader) { (text) throws(InvalidField) in
          guard let tag = LanguageTag(text) else {
            throw InvalidField(
              pointer: "", message: "is no language tag such as ja, pt-BR or zh-Hant")
          }
          return tag
        })
    case .deviceType: return .texts(try texts(name, bytesMax: Limits.deviceTypeBytesMax, reader))
    case .timeZone: return .texts(try texts(name, bytesMax: Limits.timeZoneBytesMax, reader))
    case .channel: return .members(try texts(name, bytesMax: Limits.channelBytesMax, reader))
    case .appVersion, .osVersion, .sdkVersion:
      return .version(
        try VersionRange(
          json: reader[name] ?? .null, at: reader.pointer(to: name)))
    case .custom:
      return .texts(
        try values(name, reader) { (text) throws(InvalidField) in
          guard text.utf8.count <= Limits.customValueBytesMax else {
            throw InvalidField(
              pointer: "",
              message:
                "must be at most \(Limits.customValueBytesMax) bytes, is \(text.utf8.count)")
          }
          return Array(text.utf8)
        })
    }
  }

  private static func custom(_ reader: FieldReader) throws(InvalidField) -> [FilterCondition] {
    guard let object = try reader.anyObject("custom") else { return [] }
    guard (1...Limits.filterCustomFieldsMax).contains(object.count) else {
      throw reader.refused(
        "custom",
        "must hold 1 to \(Limits.filterCustomFieldsMax) fields, holds \(object.count)")
    }
    let place = reader.pointer(to: "custom")
    let members = try FieldReader(.object(object), at: place, known: object.members.map(\.name))
    var conditions: [FilterCondition] = []
    for name in object.members.map(\.name).sorted(by: TextRule.precedes) {
      guard (1...Limits.customNameBytesMax).contains(name.utf8.count),
        TextRule.isWord(name, others: "._-")
      else {
        throw members.refused(
          name,
          "is no custom field: its name is 1 to \(Limits.customNameBytesMax) ASCII letters, digits or . _ -"
        )
      }
      let field = FilterField.custom(name)
      conditions.append(FilterCondition(field: field, test: try test(of: field, members)))
    }
    return conditions
  }

  // MARK: Lists of values

  private static func choices<Choice: RawRepresentable & CaseIterable & Equatable>(
    _ name: String, of type: Choice.Type, _ reader: FieldReader
  ) throws(InvalidField) -> [Choice] where Choice.RawValue == String {
    try values(name, reader) { (text) throws(InvalidField) in
      guard let choice = Choice(rawValue: text) else {
        throw InvalidField(pointer: "", message: FieldReader.notAChoice(text, of: type))
      }
      return choice
    }
  }

  private static func texts(
    _ name: String, bytesMax: Int, _ reader: FieldReader
  ) throws(InvalidField) -> [[UInt8]] {
    try values(name, reader) { (text) throws(InvalidField) in
      try TextRule.check(text, bytesMax: bytesMax)
      return Array(text.utf8)
    }
  }

  /// A list of strings as values of one kind; each once, in the order given.
  private static func values<Value: Equatable>(
    _ name: String, _ reader: FieldReader, _ read: (String) throws(InvalidField) -> Value
  ) throws(InvalidField) -> [Value] {
    let items = try reader.array(name) ?? []
    guard (1...Limits.filterValuesMax).contains(items.count) else {
      throw reader.refused(
        name, "must hold 1 to \(Limits.filterValuesMax) values, holds \(items.count)")
    }
    var values: [Value] = []
    for (position, item) in items.enumerated() {
      let place = FieldPointer.element(position, of: reader.pointer(to: name))
      guard case .string(let text) = item else {
        throw InvalidField(pointer: place, message: "must be a string, is \(item.kindName)")
      }
      let value: Value
      do throws(InvalidField) { value = try read(text) } catch { throw error.under(place) }
      if !values.contains(value) { values.append(value) }
    }
    return values
  }

  // MARK: Writing

  /// The conditions as an object of fields.
  static func json(_ conditions: [FilterCondition]) -> JSONObject {
    var object = JSONObject()
    var custom = JSONObject()
    for condition in conditions {
      if case .custom(let name) = condition.field {
        custom[name] = condition.test.json()
      } else {
        object[condition.field.name] = condition.test.json()
      }
    }
    if !custom.isEmpty { object["custom"] = .object(custom) }
    return object
  }
}

extension FilterTest {
  fileprivate func json() -> JSONValue {
    switch self {
    case .networks(let networks): .array(networks.map { .string($0.rawValue) })
    case .environments(let environments): .array(environments.map { .string($0.rawValue) })
    case .texts(let texts), .members(let texts):
      .array(texts.map { .string(String(decoding: $0, as: UTF8.self)) })
    case .languages(let ranges): .array(ranges.map { .string($0.text) })
    case .version(let range): range.json()
    }
  }
}
