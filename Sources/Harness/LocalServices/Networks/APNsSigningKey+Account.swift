extension APNsSigningKey: PlayedAccount {
  package func members(of app: ConfigurationText.App, path: (String) -> String) -> [String] {
    [
      "key_file: \(path(app.apnsKeyFile ?? file))", "key_id: \(keyID)", "team_id: \(teamID)",
      "topic: \(NetworkKeys.topic)",
    ]
  }

  package var simulatorOptions: [String] { ["--apns-key", "\(keyID):\(teamID):\(file)"] }

  package var listing: [(name: String, value: String)] { [("apns_key", file)] }
}
