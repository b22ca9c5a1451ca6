/// A token signing key as Apple's developer site hands it out: `AuthKey_<key id>.p8`, an EC P-256
/// key in PKCS #8 (Apple, "Establishing a token-based connection to APNs").
package struct APNsSigningKey: Sendable {
  package let file: String
  /// Ten characters, as is the team's.
  package let keyID: String
  package let teamID: String
  /// The public key that verifies the tokens signed with it, PEM.
  package let publicKeyPEM: String

  /// Makes a key and writes its file into the folder, and the public half beside it as `.pub`.
  package init(
    folder: String, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ"
  ) throws(LocalServiceError) {
    let key = try PrivateKey.ellipticCurve()
    file = "\(folder)/AuthKey_\(keyID).p8"
    self.keyID = keyID
    self.teamID = teamID
    publicKeyPEM = try key.publicPEM()
    try PrivateFile.write(try key.privatePEM(), to: file)
    try PrivateFile.write(publicKeyPEM, to: "\(folder)/AuthKey_\(keyID).pub")
  }

  /// The text of such a file, with a key that is made for it.
  package static func newText() throws(LocalServiceError) -> String {
    try PrivateKey.ellipticCurve().privatePEM()
  }
}
