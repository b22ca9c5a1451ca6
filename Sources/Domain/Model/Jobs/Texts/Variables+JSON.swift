extension Variables {
  /// A job's `variables` or `variables_key`; nil when it has neither.
  init?(reader: FieldReader) throws(InvalidField) {
    guard let users = try reader.map("variables") else {
      guard
        let key = try reader.boundedText("variables_key", bytesMax: Limits.usersKeyBytesMax)
      else { return nil }
      self = .key(key)
      return
    }
    guard !reader.has("variables_key") else {
      throw reader.refused(
        "variables_key", "must be left out where variables are given: keep one of them")
    }
    let bytes = JSONValue.object(users).bytes().count
    guard bytes <= Limits.variablesBytesMax else {
      throw reader.refused(
        "variables",
        "must be at most \(Limits.variablesBytesMax) bytes of JSON, is \(bytes): "
          + "fill a HASH and name it in variables_key")
    }
    let place = reader.pointer(to: "variables")
    var given: [UserValues] = []
    for member in users.members {
      let pointer = FieldPointer.child(member.name, of: place)
      do { try TextRule.checkUser(member.name) } catch { throw error.under(pointer) }
      given.append(
        UserValues(user: member.name, values: try Self.values(member.value, at: pointer)))
    }
    self = .given(given.sorted { TextRule.precedes($0.user, $1.user) })
  }

  private static func values(
    _ json: JSONValue, at pointer: String
  ) throws(InvalidField) -> [String: String] {
    guard let object = json.mapValue else {
      throw InvalidField(
        pointer: pointer,
        message: "must be an object of the user's values by their names, is \(json.kindName)")
    }
    var values: [String: String] = [:]
    for member in object.members {
      guard let text = text(member.value) else {
        throw InvalidField(
          pointer: FieldPointer.child(member.name, of: pointer),
          message: "must be a string, a number or a boolean, is \(member.value.kindName)")
      }
      values[member.name] = text
    }
    return values
  }

  /// Adds itself to a job.
  func write(to job: inout JSONObject) {
    switch self {
    case .key(let key): job["variables_key"] = .string(key)
    case .given(let users):
      var object = JSONObject()
      for user in users {
        var values = JSONObject()
        for (name, text) in user.values.sorted(by: { TextRule.precedes($0.key, $1.key) }) {
          values[name] = .string(text)
        }
        object[user.user] = .object(values)
      }
      job["variables"] = .object(object)
    }
  }
}
