/// The placeholders of a job's texts, each in its one form under one number; it marks texts with them.
struct PlaceholderTable {
  private(set) var placeholders: [Placeholder] = []

  /// The text with a mark in the place of each placeholder.
  /// - Throws: what is wrong with one; the pointer is empty.
  mutating func mark(_ text: String, isURL: Bool = false) throws(InvalidField) -> String {
    guard text.utf8.contains(UInt8(ascii: "{")), text.contains("{{") else { return text }
    var marked = ""
    var rest = text.unicodeScalars[...]
    while let start = Self.opening(in: rest) {
      marked.unicodeScalars += rest[..<start]
      rest = rest[start...].dropFirst(2)
      let placeholder = try Self.read(&rest, isURL: isURL)
      marked += Mark.value(try number(of: placeholder)).text
    }
    marked.unicodeScalars += rest
    return marked
  }

  private mutating func number(of placeholder: Placeholder) throws(InvalidField) -> Int {
    if let known = placeholders.firstIndex(of: placeholder) { return known }
    guard placeholders.count < Limits.placeholdersMax else {
      throw InvalidField(
        pointer: "",
        message: "brings more than the \(Limits.placeholdersMax) placeholders that a job may have")
    }
    placeholders.append(placeholder)
    return placeholders.count - 1
  }

  // MARK: Reading

  private typealias Scalars = Substring.UnicodeScalarView

  private static func opening(in text: Scalars) -> Scalars.Index? {
    var index = text.startIndex
    while let brace = text[index...].firstIndex(of: "{") {
      let next = text.index(after: brace)
      if next < text.endIndex, text[next] == "{" { return brace }
      index = next
    }
    return nil
  }

  /// Reads what is behind `{{`, up to and with `}}`.
  private static func read(
    _ rest: inout Scalars, isURL: Bool
  ) throws(InvalidField) -> Placeholder {
    let unknown = InvalidField(
      pointer: "",
      message: "holds {{ without a placeholder behind it: write {{name}} or "
        + "{{name | default: \"text\"}}, with a name of letters, digits and _")
    skipSpaces(&rest)
    let name = String(rest.prefix { $0 == "_" || isLetterOrDigit($0) })
    rest = rest.dropFirst(name.unicodeScalars.count)
    guard (1...Limits.variableNameBytesMax).contains(name.utf8.count) else { throw unknown }
    skipSpaces(&rest)
    var fallback: String?
    if take("|", &rest) {
      skipSpaces(&rest)
      guard take("default", &rest) else { throw unknown }
      skipSpaces(&rest)
      guard take(":", &rest) else { throw unknown }
      skipSpaces(&rest)
      guard let text = quoted(&rest) else { throw unknown }
      fallback = text
      skipSpaces(&rest)
    }
    guard take("}}", &rest) else { throw unknown }
    return Placeholder(name: name, fallback: fallback, isInURL: isURL)
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && TextRule.isLetterOrDigit(UInt8(scalar.value))
  }

  private static func skipSpaces(_ rest: inout Scalars) { rest = rest.drop { $0 == " " } }

  private static func take(_ word: String, _ rest: inout Scalars) -> Bool {
    guard rest.starts(with: word.unicodeScalars) else { return false }
    rest = rest.dropFirst(word.unicodeScalars.count)
    return true
  }

  /// A text in quotes, in which a backslash stands before a quote or another one.
  private static func quoted(_ rest: inout Scalars) -> String? {
    guard take("\"", &rest) else { return nil }
    var text = ""
    while let scalar = rest.popFirst() {
      if scalar == "\"" { return text }
      if scalar == "\\" {
        guard let next = rest.popFirst(), next == "\"" || next == "\\" else { return nil }
        text.unicodeScalars.append(next)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return nil
  }
}

extension PlaceholderTable {
  /// An object with marks in the place of the placeholders of all its texts, however deep they stand.
  /// - Parameter pointer: the object's, for complaints.
  mutating func marked(
    _ object: JSONObject, at pointer: String
  ) throws(InvalidField) -> JSONObject {
    var marked = JSONObject()
    for member in object.members {
      marked[member.name] = try self.marked(
        member.value, at: FieldPointer.child(member.name, of: pointer))
    }
    return marked
  }

  private mutating func marked(
    _ value: JSONValue, at pointer: String
  ) throws(InvalidField) -> JSONValue {
    switch value {
    case .null, .bool, .number: return value
    case .string(let plain):
      do { return .string(try mark(plain)) } catch { throw error.under(pointer) }
    case .array(let items):
      var marked: [JSONValue] = []
      for (index, item) in items.enumerated() {
        marked.append(try self.marked(item, at: FieldPointer.element(index, of: pointer)))
      }
      return .array(marked)
    case .object(let object): return .object(try marked(object, at: pointer))
    }
  }
}
