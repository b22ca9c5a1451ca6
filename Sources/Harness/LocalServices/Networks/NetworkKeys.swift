package import Model

/// The keys by which workers and the push networks' stand-in know each other, made anew: an authority, its certificate
/// for this machine, and an account at each network.
///
/// The registry of this module: the account at each network is a type of its own, which is named here.
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

  package func account(at network: Network) -> any PlayedAccount {
    switch network {
    case .apns: apnsKey
    case .fcm: serviceAccount
    case .jpush: jpushApp
    }
  }

  /// The accounts at all networks.
  package var accounts: [any PlayedAccount] { Network.allCases.map(account) }
}
