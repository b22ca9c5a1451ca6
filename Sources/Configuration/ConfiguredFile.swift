/// A file that the configuration names, and where it names it.
package struct ConfiguredFile: Sendable, Equatable {
  /// Absolute, or relative to the working directory when the configuration's own path is.
  package let path: String
  /// The configuration file or the environment variable.
  package let namedIn: String
  package let line: Int?
  package let field: String
}
