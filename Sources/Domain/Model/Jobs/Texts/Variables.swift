/// Where the values come from that a job's texts are filled with, for each user.
package enum Variables: Sendable, Equatable {
  /// With the job: by user, the values by their names.
  case given([UserValues])
  /// A HASH that the producer has filled: user → JSON object.
  case key(String)

  /// The values of one user.
  package struct UserValues: Sendable, Equatable {
    package let user: String
    package let values: [String: String]

    package init(user: String, values: [String: String]) {
      self.user = user
      self.values = values
    }

    package static func == (one: UserValues, other: UserValues) -> Bool {
      TextRule.isSame(one.user, other.user) && one.values == other.values
    }
  }

  /// Returns the text that a value is written as; nil for what is no text, number or boolean.
  package static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let number): number.text
    case .bool(let flag): flag ? "true" : "false"
    case .null, .array, .object: nil
    }
  }

  /// The values in one user's JSON; nil when that is no object of texts, numbers and booleans.
  package static func values(in json: UnsafeRawBufferPointer) -> [String: String]? {
    let parser = JSONParser(
      depthMax: 2, bytesMax: Limits.userVariablesBytesMax, valuesMax: Limits.userVariablesMax)
    guard let object = try? parser.parse(json).mapValue else { return nil }
    var values: [String: String] = [:]
    for member in object.members {
      guard let text = text(member.value) else { return nil }
      values[member.name] = text
    }
    return values
  }

  /// The values of a user among those that were given with a job, which stand in the order of their users.
  package static func values(
    of user: UnsafeRawBufferPointer, in given: [UserValues]
  ) -> [String: String]? {
    var range = given.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if given[middle].user.utf8.elementsEqual(user) { return given[middle].values }
      if given[middle].user.utf8.lexicographicallyPrecedes(user) {
        range = (middle + 1)..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return nil
  }
}
