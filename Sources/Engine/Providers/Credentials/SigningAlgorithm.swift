/// The signatures of RFC 7518 that the providers ask for.
package enum SigningAlgorithm: String, Sendable {
  /// ECDSA on P-256 with SHA-256: APNs provider tokens.
  case es256 = "ES256"
  /// RSASSA-PKCS1-v1_5 with SHA-256: Google service accounts.
  case rs256 = "RS256"

  /// The demands on a key, for messages.
  var need: String {
    switch self {
    case .es256: "APNs takes an EC key of the curve P-256"
    case .rs256: "Google takes an RSA key of at least 2,048 bits"
    }
  }

  /// Where the right key is to be had, for messages about a wrong one.
  var remedy: String {
    switch self {
    case .es256:
      "give the file AuthKey_….p8 as Apple's developer site gave it out, under Keys"
    case .rs256:
      "give the JSON file that the Firebase console makes under Service accounts, Generate new "
        + "private key"
    }
  }
}
