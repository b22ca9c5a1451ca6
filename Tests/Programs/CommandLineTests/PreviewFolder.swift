import LocalServices

/// What a command that renders needs in its folder: a configuration, and the keys that it names.
enum PreviewFolder {
  /// An app "shop" on APNs in production and on FCM, where these usually are.
  static func write(to folder: TemporaryFolder) throws {
    let key = try APNsSigningKey(folder: folder.path)
    let account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    try PrivateFile.write(
      """
      apps:
        - id: shop
          apns:
            production:
              key_file: \(key.file)
              key_id: \(key.keyID)
              team_id: \(key.teamID)
              topic: com.example.shop
          fcm: {service_account_file: \(account.file)}

      """, to: folder.file("pushpool.yaml"))
  }
}
