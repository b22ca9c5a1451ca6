internal import Model

/// The members of a request's small body: each is known, and each has its type.
struct RequestFields {
  private let object: JSONObject

  /// - Throws: 400 for what is no JSON, 422 for what is no object or has a member that is not known.
  init(_ request: APIRequest, known: [String]) throws(Problem) {
    try self.init(try request.json(), known: known)
  }

  /// - Parameter pointer: where the value is in the body.
  init(_ value: JSONValue, at pointer: String = "", known: [String]) throws(Problem) {
    guard let object = value.objectValue else {
      throw .invalid(
        InvalidField(pointer: pointer, message: "must be an object, is \(value.kindName)"))
    }
    for member in object.members where !known.contains(where: { TextRule.isSame($0, member.name) })
    {
      throw .invalid(
        InvalidField(
          pointer: FieldPointer.child(member.name, of: pointer),
          message: NearestName.unknownField(member.name, among: known)))
    }
    self.object = object
    self.pointer = pointer
  }

  private let pointer: String

  subscript(name: String) -> JSONValue? { object[name] }

  func refused(_ name: String, _ message: String) -> Problem {
    .invalid(InvalidField(pointer: FieldPointer.child(name, of: pointer), message: message))
  }

  /// A text of at most so many bytes, which may be empty; nil when it is not there.
  func string(_ name: String, bytesMax: Int) throws(Problem) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.stringValue else {
      throw refused(name, "must be a string, is \(value.kindName)")
    }
    guard text.utf8.count <= bytesMax else {
      throw refused(name, "must be at most \(bytesMax) bytes, is \(text.utf8.count)")
    }
    return text
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let value = object[name] else { return nil }
    guard case .number(let number) = value, let whole = number.int64,
      let result = Int(exactly: whole), range.contains(result)
    else {
      throw refused(
        name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return result
  }

  /// Epoch milliseconds, given as such or as RFC 3339 text; nil when it is not there.
  func instantMs(_ name: String) throws(Problem) -> Int64? {
    guard let value = object[name] else { return nil }
    let ms = value.int64Value ?? value.stringValue.flatMap { RFC3339.milliseconds($0) }
    guard let ms, (Limits.recentInstantMsMin...Limits.instantMsMax).contains(ms) else {
      throw refused(
        name, "must be epoch milliseconds or an RFC 3339 instant such as 2026-11-21T09:30:00Z")
    }
    return ms
  }

  func array(_ name: String, countMax: Int) throws(Problem) -> [JSONValue]? {
    guard let value = object[name] else { return nil }
    guard let items = value.arrayValue else {
      throw refused(name, "must be an array, is \(value.kindName)")
    }
    guard (1...countMax).contains(items.count) else {
      throw refused(name, "must have 1 to \(countMax) items, has \(items.count)")
    }
    return items
  }
}
