internal import Model

extension FCMConfiguration {
  private static let fields =
    ["service_account_file", "token_endpoint"] + ConfigurationSection.pushAccessFields

  init?(in parent: ConfigurationSection) throws(ConfigurationError) {
    let section = try parent.section("fcm", known: Self.fields)
    guard section.isPresent(fields: Self.fields) else { return nil }
    self.init(
      serviceAccountFile: try section.requiredFile(
        "service_account_file", "the JSON key of a Firebase service account"),
      access: try section.pushAccess(),
      tokenEndpoint: try section.value("token_endpoint") { (text) throws(InvalidField) in
        try ServiceURL(text, allowsPath: true)
      })
  }
}
