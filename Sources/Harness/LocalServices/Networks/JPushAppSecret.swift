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

extension JPushAppSecret: PlayedAccount {
  package func members(of app: ConfigurationText.App, path: (String) -> String) -> [String] {
    ["app_key: '\(appKey)'", "master_secret_file: \(path(file))"]
  }

  package var simulatorOptions: [String] { ["--jpush-app", "\(appKey):\(file)"] }

  package var listing: [(name: String, value: String)] {
    [("jpush_app_key", appKey), ("jpush_secret", file)]
  }
}
