/// An app at JPush.
package struct JPushConfiguration: Sendable, Equatable {
  package var appKey: String
  package var masterSecretFile: String
  /// Its transport is always `curl`.
  package var access: Access

  package init(appKey: String, masterSecretFile: String, access: Access = Access()) {
    self.appKey = appKey
    self.masterSecretFile = masterSecretFile
    self.access = access
    self.access.transport = .curl
  }
}
