internal import Model
internal import Yams

extension ConfigurationSection {
  /// A whole number; `zero` says what to do instead of 0 where 0 is out of range.
  func integer(
    _ name: String, in range: ClosedRange<Int>, default: Int, zero: String? = nil
  ) throws(ConfigurationError) -> Int {
    try optionalInteger(name, in: range, zero: zero) ?? `default`
  }

  /// Reads a number like `integer`, for what has no default.
  func optionalInteger(
    _ name: String, in range: ClosedRange<Int>, zero: String? = nil
  ) throws(ConfigurationError) -> Int? {
    guard let scalar = try scalar(name) else { return nil }
    return try source.reading(else: nil) { () throws(ConfigurationError) in
      try Self.number(scalar, in: range, zero: zero)
    }
  }

  private static func number(
    _ scalar: ConfigurationScalar, in range: ClosedRange<Int>, zero: String?
  ) throws(ConfigurationError) -> Int {
    let digits = scalar.text.utf8
    guard (1...9).contains(digits.count), digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let number = Int(scalar.text), range.contains(number)
    else {
      if Int(scalar.text) == 0, let zero { throw scalar.refused("must not be 0: \(zero)") }
      throw scalar.refused(
        "must be a whole number from \(range.lowerBound) to \(range.upperBound), "
          + "is \(quoted(scalar.text))")
    }
    return number
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default: Choice
  ) throws(ConfigurationError) -> Choice where Choice.RawValue == String {
    guard let scalar = try scalar(name) else { return `default` }
    guard let choice = Choice(rawValue: scalar.text) else {
      let names = Choice.allCases.map(\.rawValue)
      let hint = NearestName.suggestion(for: scalar.text, among: names)
      try source.refuse(
        scalar.refused(
          "must be one of \(names.joined(separator: ", ")), is "
            + Self.quoted(scalar.text)
            + (hint.map { "; did you mean \"\($0)\"?" } ?? "")))
      return `default`
    }
    return choice
  }

  /// The path of a file, resolved against the folder of the configuration.
  func file(_ name: String) throws(ConfigurationError) -> String? {
    guard let scalar = try scalar(name) else { return nil }
    return try source.reading(else: nil) { () throws(ConfigurationError) in
      try checkedPath(scalar)
    }
  }

  /// - Parameter isPublic: whether what the file holds is no secret.
  func requiredFile(
    _ name: String, _ why: String, isPublic: Bool = false
  ) throws(ConfigurationError) -> String {
    let scalar = try required(name, why)
    return try source.reading(else: "") { () throws(ConfigurationError) in
      try checkedPath(scalar, isPublic: isPublic)
    }
  }

  /// The path that a value is, as `file` resolves it.
  func checkedPath(
    _ scalar: ConfigurationScalar, isPublic: Bool = false
  ) throws(ConfigurationError) -> String {
    // A pasted key would otherwise be repeated as a path that does not exist.
    guard !scalar.text.contains("-----BEGIN"), !scalar.text.hasPrefix("{") else {
      throw scalar.refused("must be the path of a file, not what is in it: secrets are files")
    }
    do { try TextRule.check(scalar.text, bytesMax: ConfigurationLimits.pathBytesMax) } catch {
      throw scalar.refused("must be the path of a file: it \(error.message)")
    }
    return source.path(scalar, isPublic: isPublic)
  }

  /// Several words: a list of the file's, or one value of the file's or of a variable's with commas or spaces between them.
  func words(_ name: String, max: Int) throws(ConfigurationError) -> [ConfigurationScalar] {
    var words: [ConfigurationScalar] = []
    if source.variables[variable(for: name)] == nil, let items = node(name)?.sequence {
      for item in items {
        guard let scalar = item.scalar else {
          throw ConfigurationError(
            file: source.file, line: item.mark?.line, field: path(to: name),
            message: "must be a list of single values")
        }
        words.append(
          ConfigurationScalar(
            text: scalar.string, field: path(to: name), file: source.file, line: scalar.mark?.line,
            variable: nil))
      }
    } else if let scalar = try scalar(name) {
      words = scalar.text.split { $0 == "," || $0 == " " }.map {
        ConfigurationScalar(
          text: String($0), field: scalar.field, file: scalar.file, line: scalar.line,
          variable: scalar.variable)
      }
    }
    guard words.count <= max else {
      throw words[max].refused("must be at most \(max), are \(words.count)")
    }
    return words
  }

  /// The text of a value; where it breaks a rule, the complaint about it is told.
  func checked(
    _ scalar: ConfigurationScalar, _ check: (String) throws(InvalidField) -> Void
  ) throws(ConfigurationError) -> String {
    do { try check(scalar.text) } catch {
      try source.refuse(scalar.refused(error.message))
    }
    return scalar.text
  }

  /// A value that checks itself.
  func value<Value>(
    _ name: String, _ make: (String) throws(InvalidField) -> Value
  ) throws(ConfigurationError) -> Value? {
    guard let scalar = try scalar(name) else { return nil }
    do { return try make(scalar.text) } catch {
      try source.refuse(scalar.refused(error.message))
      return nil
    }
  }
}
