internal import Foundation
internal import Model
internal import Yams

/// Makes JSON of the YAML of one app, with the content of files in place of their paths.
struct AppFileReader {
  /// Members whose value is the path of a file: the file's content stands in the JSON by the name without `_file`.
  private static let fileFields =
    AppSecretName.Field.allCases.map { "\($0.rawValue)_file" } + ["ca_file"]
  /// The fields that are numbers. All others are texts, also when they have digits alone, as a key id may.
  private static let numbers = [
    "pushes_per_second", "events_per_minute", "messages_per_minute", "retention_hours",
    "named_retention_hours", "unnamed_retention_minutes", "set_at", "changed_at",
  ]

  private static let depthMax = 16

  /// The name of the file, for messages.
  let file: String
  /// Relative paths begin here.
  let folder: String
  private(set) var places = AppFilePlaces()
  private var values = 0

  init(file: String, folder: String) {
    self.file = file
    self.folder = folder
  }

  mutating func value(
    _ node: Node, at pointer: String
  ) throws(ConfigurationError) -> JSONValue {
    values += 1
    // Aliases may stand for far more than was written.
    guard values <= ConfigurationLimits.appDocumentValuesMax,
      pointer.utf8.count(where: { $0 == UInt8(ascii: "/") }) <= Self.depthMax
    else {
      throw ConfigurationError(
        file: file, line: node.mark?.line, field: "",
        message:
          "has more than \(ConfigurationLimits.appDocumentValuesMax) values, or more than \(Self.depthMax) "
          + "in one another: no app has so many")
    }
    places.lines[pointer] = node.mark?.line
    if let mapping = node.mapping {
      var object = JSONObject()
      for (key, value) in mapping {
        guard let name = key.scalar?.string else {
          throw ConfigurationError(
            file: file, line: key.mark?.line, field: "", message: "holds a name that is no text")
        }
        try add(value, name, to: &object, at: pointer)
      }
      return .object(object)
    }
    if let items = node.sequence {
      var array: [JSONValue] = []
      for (position, item) in items.enumerated() {
        array.append(
          try self.value(item, at: FieldPointer.element(position, of: pointer)))
      }
      return .array(array)
    }
    let name = pointer.split(separator: "/").last.map { String($0) } ?? ""
    return node.scalar.map { Self.scalar($0, isNumber: Self.numbers.contains(name)) } ?? .null
  }

  private mutating func add(
    _ value: Node, _ name: String, to object: inout JSONObject, at pointer: String
  ) throws(ConfigurationError) {
    let isFile = Self.fileFields.contains(name)
    let field = isFile ? String(name.dropLast(5)) : name
    let place = FieldPointer.child(field, of: pointer)
    let written = String(FieldPointer.child(name, of: pointer).dropFirst()).replacing(
      "/", with: ".")
    let inner =
      isFile
      ? try content(value, at: place, written) : try self.value(value, at: place)
    if isFile {
      places.written[place] = written
      places.lines[place] = value.mark?.line
    }
    guard object.insert(inner, for: field) else {
      throw ConfigurationError(
        file: file, line: value.mark?.line, field: written,
        message: "must not stand beside \(isFile ? field : "\(field)_file"): give one of them")
    }
  }

  /// The content of the file that a value names: its text, or Base64 where it is none.
  private func content(
    _ node: Node, at pointer: String, _ field: String
  ) throws(ConfigurationError) -> JSONValue {
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(file: file, line: node.mark?.line, field: field, message: message)
    }
    guard let path = node.scalar?.string, !path.isEmpty else {
      throw refused("must be the path of a file")
    }
    guard !path.contains("-----BEGIN"), !path.hasPrefix("{") else {
      throw refused(
        "must be the path of a file; a secret itself stands under the name without _file")
    }
    let full = path.hasPrefix("/") ? path : folder + path
    if let problem = FileCheck.problem(full) { throw refused("\(full) \(problem)") }
    let handle = FileHandle(forReadingAtPath: full)
    guard let data = try? handle?.read(upToCount: ConfigurationLimits.appDocumentBytesMax + 1),
      !data.isEmpty
    else { throw refused("\(full) cannot be read, or is empty") }
    guard data.count <= ConfigurationLimits.appDocumentBytesMax else {
      throw refused("\(full) is longer than \(ConfigurationLimits.appDocumentBytesMax) bytes")
    }
    guard var text = String(validating: data, as: UTF8.self) else {
      // A .p12 is read in Base64, too.
      return .string(data.base64EncodedString())
    }
    let secret = pointer.split(separator: "/").last.flatMap {
      AppSecretName.Field(rawValue: String($0))
    }
    if secret?.isOneLine == true {
      // As the configuration reads a file with one secret.
      if text.unicodeScalars.first == "\u{feff}" { text.unicodeScalars.removeFirst() }
      while text.last?.isNewline == true { text.removeLast() }
    }
    return .string(text)
  }

  private static func scalar(_ scalar: Node.Scalar, isNumber: Bool) -> JSONValue {
    let text = scalar.string
    if scalar.style == .plain, ["", "~", "null"].contains(text) { return .null }
    guard isNumber, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int64(text)
    else { return .string(text) }
    return .integer(number)
  }
}

/// The places in a file of what stands in the JSON that was made of it.
struct AppFilePlaces: Sendable {
  /// The line of each value, by its JSON pointer.
  fileprivate(set) var lines: [String: Int] = [:]
  /// The names of those that came from files, as they were written.
  fileprivate(set) var written: [String: String] = [:]

  /// The complaint about a value, at its line in the file.
  func error(about field: InvalidField, in file: String) -> ConfigurationError {
    ConfigurationError(
      file: file, line: line(of: field.pointer),
      field: written[field.pointer]
        ?? String(field.pointer.dropFirst()).replacing("/", with: "."),
      message: field.message)
  }

  /// The line of a place, or of what it stands in; nil when none is known.
  private func line(of pointer: String) -> Int? {
    var place = pointer[...]
    while true {
      if let line = lines[String(place)] { return line }
      guard let slash = place.lastIndex(of: "/") else { return nil }
      place = place[..<slash]
    }
  }
}
