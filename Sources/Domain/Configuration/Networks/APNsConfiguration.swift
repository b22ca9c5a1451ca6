/// One environment of an app at APNs.
package struct APNsConfiguration: Sendable, Equatable {
  package enum Credential: Sendable, Equatable {
    /// A .p8 signing key; key and team ids are ten letters or digits.
    case token(keyFile: String, keyID: String, teamID: String)
    /// A .p12, or a .pem of certificate and key.
    case certificate(file: String, passwordFile: String?)
  }

  package var credential: Credential
  /// The app's bundle id.
  package var topic: String
  package var access: Access

  package init(credential: Credential, topic: String, access: Access = Access()) {
    self.credential = credential
    self.topic = topic
    self.access = access
  }
}
