/// One value as written, and where.
struct ConfigurationScalar {
  let text: String
  let field: String
  let file: String
  /// nil when a variable sets it.
  let line: Int?
  let variable: String?

  func refused(_ message: String) -> ConfigurationError {
    ConfigurationError(file: variable ?? file, line: line, field: field, message: message)
  }
}
