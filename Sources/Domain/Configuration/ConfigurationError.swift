/// Why a configuration is refused: where it says what, and what it should say.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// The path of the file, or the name of the environment variable.
  package let file: String
  /// Counted from 1; nil for a variable and for what is missing altogether.
  package let line: Int?
  /// The field, for instance `apps[0].apns.production.key_id`; empty for the whole file.
  package let field: String
  package let message: String

  package init(file: String, line: Int?, field: String, message: String) {
    self.file = file
    self.line = line
    self.field = field
    self.message = message
  }

  /// The position in the configuration of the app that it is about; nil when it is about none.
  package var app: Int? { Self.app(ofField: field) }

  /// The position of the app that a field belongs to, as 3 of `apps[3].fcm.ca_file`.
  static func app(ofField field: String) -> Int? {
    guard field.hasPrefix("apps["), let end = field.firstIndex(of: "]") else { return nil }
    return Int(field[field.index(field.startIndex, offsetBy: 5)..<end])
  }

  /// `pushpool.yaml:12: apps[0].apns.production.key_id: must be 10 letters or digits, is 9`.
  package var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return field.isEmpty ? "\(place): \(message)" : "\(place): \(field): \(message)"
  }
}
