package import PushpoolConfiguration

/// The place that a worker's configuration comes from, whenever it is loaded.
package struct ConfigurationOrigin: Sendable {
  /// The configuration file; nil when there is none.
  let file: String?
  /// The file before it was read first.
  let identity: FileIdentity?
  /// Called when another level is to be logged from now on.
  let onLogLevel: @Sendable (LogConfiguration.Level) -> Void
  private let read: @Sendable () throws(ConfigurationError) -> Configuration

  /// Make it before the configuration is loaded first: a change of the file from then on is noticed.
  /// - Parameter read: reads the file and whatever goes before it.
  package init(
    file: String?, onLogLevel: @escaping @Sendable (LogConfiguration.Level) -> Void = { _ in },
    read: @escaping @Sendable () throws(ConfigurationError) -> Configuration
  ) {
    self.file = file
    identity = file.flatMap { FileIdentity(path: $0) }
    self.onLogLevel = onLogLevel
    self.read = read
  }

  /// The configuration as it is now.
  /// - Throws: what is wrong with it, with its line and field.
  package func load() throws(ConfigurationError) -> Configuration { try read() }
}
