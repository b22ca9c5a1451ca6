internal import Model
internal import Yams

/// The file and the environment that a configuration is read from, and what was taken from them so far.
final class ConfigurationSource {
  static let variablePrefix = "PUSHPOOL"

  /// The file as the operator named it; what stands in for it when there is none.
  let file: String
  /// Relative paths begin here.
  let folder: String
  /// Variables that begin as ours do.
  let variables: [String: String]
  private(set) var files: [ConfiguredFile] = []
  /// Fields of the file, other than files, that have a password in them.
  private(set) var passwords: [String] = []
  private var used: Set<String> = []
  /// The errors of a reading that notes them; empty where the first one ends it.
  private(set) var errors: [ConfigurationError] = []
  /// Errors beyond `ConfigurationLimits.errorsMax`.
  private(set) var errorsOmitted = 0
  /// Fields of which nothing is told, since it would follow from an error that was noted.
  private(set) var silent: Set<String> = []
  private let notesErrors: Bool

  /// - Parameter notesErrors: whether the reading goes on behind an error, to find all of them.
  init(file: String?, environment: [String: String], notesErrors: Bool = false) {
    self.notesErrors = notesErrors
    self.file = file ?? "configuration"
    folder = file.flatMap { $0.lastIndex(of: "/").map { slash in String(file![...slash]) } } ?? ""
    variables = environment.filter { $0.key.hasPrefix(Self.variablePrefix + "_") }
  }

  func variable(_ name: String) -> String? {
    guard let text = variables[name] else { return nil }
    used.insert(name)
    return text
  }

  func hasVariables(beginning prefix: String) -> Bool {
    variables.keys.contains { $0.hasPrefix(prefix) }
  }

  /// A name as a word of a variable's: in capitals, all but letters and digits as `_`.
  static func variableWord(_ name: String) -> String {
    String(
      decoding: name.uppercased().utf8.map {
        TextRule.isLetterOrDigit($0) ? $0 : UInt8(ascii: "_")
      }, as: UTF8.self)
  }

  var unusedVariables: [String] { variables.keys.filter { !used.contains($0) }.sorted() }

  /// Ends the reading with an error; or notes it, where all are wanted. Of what follows from the error of a field nothing
  /// is noted: a field has one error.
  /// - Parameter isOneOfMany: true for one of several errors that a section may have.
  func refuse(
    _ error: ConfigurationError, isOneOfMany: Bool = false
  ) throws(ConfigurationError) {
    guard notesErrors else { throw error }
    // The section of an app is read twice.
    guard !errors.contains(error), isOneOfMany || !hasError(at: error.field) else { return }
    guard errors.count < ConfigurationLimits.errorsMax else {
      errorsOmitted += 1
      return
    }
    errors.append(error)
  }

  /// Reads a part; its usual value goes on where all errors are wanted and the part has one.
  func reading<Value>(
    else usual: Value, _ body: () throws(ConfigurationError) -> Value
  ) throws(ConfigurationError) -> Value {
    do throws(ConfigurationError) { return try body() } catch {
      try refuse(error)
      return usual
    }
  }

  /// Tells nothing of a field from now on: an error that was noted, and is another field's, may be its cause.
  func silence(_ field: String) { silent.insert(field) }

  /// Whether an error of the field was noted, or would follow from one that was.
  func hasError(at field: String) -> Bool {
    !field.isEmpty && (silent.contains(field) || errors.contains { $0.field == field })
  }

  /// Whether an error of the section or list, or of a field in it, was noted, or would follow from one that was.
  func hasError(within section: String) -> Bool {
    silent.contains(section)
      || errors.contains {
        $0.field == section || $0.field.hasPrefix(section + ".")
          || $0.field.hasPrefix(section + "[")
      }
  }

  /// Remembers that a value has a password in it, unless a variable brings it.
  func notePassword(in scalar: ConfigurationScalar) {
    if scalar.variable == nil { passwords.append(scalar.field) }
  }

  /// Resolves a path and remembers who named it.
  func path(_ scalar: ConfigurationScalar, isPublic: Bool) -> String {
    let path = scalar.text.hasPrefix("/") ? scalar.text : folder + scalar.text
    files.append(
      ConfiguredFile(
        path: path, namedIn: scalar.variable ?? file, line: scalar.line, field: scalar.field,
        isPublic: isPublic))
    return path
  }
}
