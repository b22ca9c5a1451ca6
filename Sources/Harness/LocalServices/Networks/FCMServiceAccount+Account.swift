extension FCMServiceAccount: PlayedAccount {
  package func members(of app: ConfigurationText.App, path: (String) -> String) -> [String] {
    ["service_account_file: \(path(app.serviceAccountFile ?? file))"]
      + (app.messagesPerMinute.map { ["messages_per_minute: \($0)"] } ?? [])
  }

  package var simulatorOptions: [String] { ["--service-account", file] }

  package var listing: [(name: String, value: String)] { [("service_account", file)] }
}
