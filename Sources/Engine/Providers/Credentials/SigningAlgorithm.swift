/// The signatures of RFC 7518 that the providers ask for.
package enum SigningAlgorithm: String, Sendable {
  /// ECDSA on P-256 with SHA-256: APNs provider tokens.
  case es256 = "ES256"
  /// RSASSA-PKCS1-v1_5 with SHA-256: Google service accounts.
  case rs256 = "RS256"
}
