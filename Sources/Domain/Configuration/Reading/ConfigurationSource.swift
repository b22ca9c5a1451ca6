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

  init(file: String?, environment: [String: String]) {
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

  var unusedVariables: [String] { variables.keys.filter { !used.contains($0) }.sorted() }

  /// Remembers that a value has a password in it, unless a variable brings it.
  func notePassword(in scalar: ConfigurationScalar) {
    if scalar.variable == nil { passwords.append(scalar.field) }
  }

  /// Resolves a path and remembers who named it.
  func path(_ scalar: ConfigurationScalar) -> String {
    let path = scalar.text.hasPrefix("/") ? scalar.text : folder + scalar.text
    files.append(
      ConfiguredFile(
        path: path, namedIn: scalar.variable ?? file, line: scalar.line, field: scalar.field))
    return path
  }
}
