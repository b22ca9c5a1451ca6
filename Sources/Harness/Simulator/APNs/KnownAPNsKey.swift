/// A token signing key that the simulated APNs knows.
package struct KnownAPNsKey: Sendable, Equatable {
  /// The 10 characters that the token's header names as `kid`.
  package let keyID: String
  /// The team that the token must claim as `iss`.
  package let teamID: String
  /// The .p8 file, or a PEM file with its public half only.
  package let file: String

  package init(keyID: String, teamID: String, file: String) {
    self.keyID = keyID
    self.teamID = teamID
    self.file = file
  }
}
