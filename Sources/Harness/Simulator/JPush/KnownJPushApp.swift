/// An app that the simulated JPush knows.
package struct KnownJPushApp: Sendable, Equatable {
  package var appKey: String
  /// A file with the master secret.
  package var secretFile: String

  package init(appKey: String, secretFile: String) {
    self.appKey = appKey
    self.secretFile = secretFile
  }
}
