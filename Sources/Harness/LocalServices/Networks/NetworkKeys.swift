/// The keys by which workers and the push networks' stand-in know each other, made anew: an authority, its certificate
/// for this machine, APNs's signing key, FCM's service account and JPush's master secret.
package struct NetworkKeys: Sendable {
  /// The bundle ID of the app that the keys are for.
  package static let topic = "com.example.shop"

  package let authorityFile: String
  package let certificate: IssuedCertificate
  package let apnsKey: APNsSigningKey
  package let serviceAccount: FCMServiceAccount
  package let jpushApp: JPushAppSecret

  /// Writes them into a folder; files of the same names are replaced.
  /// - Parameter port: where the stand-in will listen: access tokens are fetched from there.
  package init(folder: String, port: UInt16) throws(LocalServiceError) {
    let authority = try CertificateAuthority(folder: folder)
    authorityFile = authority.certificateFile
    certificate = try authority.issueServer()
    apnsKey = try APNsSigningKey(folder: folder)
    serviceAccount = try FCMServiceAccount(
      folder: folder, tokenURI: "https://localhost:\(port)/token")
    jpushApp = try JPushAppSecret(folder: folder)
  }
}

/// An app of JPush's: an app key, and a file with its master secret.
package struct JPushAppSecret: Sendable {
  package let appKey: String
  package let file: String

  /// Writes a new master secret into a folder, readable by its owner only.
  package init(folder: String) throws(LocalServiceError) {
    appKey = Self.digits()
    file = "\(folder)/jpush.secret"
    try PrivateFile.write(Self.digits() + "\n", to: file)
  }

  /// 24 hexadecimal digits, as JPush's are.
  private static func digits() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<24).map { _ in String(Int.random(in: 0..<16, using: &generator), radix: 16) }
      .joined()
  }
}
