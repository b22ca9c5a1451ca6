/// A configuration that was read to its end, with every error in it.
package struct ConfigurationReading: Sendable, Equatable {
  /// The configuration with usual values in place of those that are refused: to look at what it names, not to work with
  /// while there are errors. Nil when the file cannot be read, or is not YAML.
  package let configuration: Configuration?
  /// In the order of the reading, one for each field; at most `ConfigurationLimits.errorsMax`.
  package let errors: [ConfigurationError]
  /// How many more there are.
  package let omitted: Int
  /// Fields of which nothing more is to be told, since it would follow from one of the errors.
  package let silent: Set<String>
}
