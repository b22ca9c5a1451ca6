/// A file that the configuration names, and where it names it.
package struct ConfiguredFile: Sendable, Equatable {
  /// Absolute, or relative to the working directory when the configuration's own path is.
  package let path: String
  /// The configuration file or the environment variable.
  package let namedIn: String
  package let line: Int?
  package let field: String

  /// Whether it holds a key or a password.
  var isSecret: Bool {
    [
      "key_file", "certificate_file", "service_account_file", "password_file", "secret_file",
    ].contains { field.hasSuffix($0) }
  }
}
