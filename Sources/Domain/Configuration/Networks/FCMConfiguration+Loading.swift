internal import Model

extension FCMConfiguration {
  private static let fields =
    ["service_account_file", "token_endpoint", "messages_per_minute"]
    + ConfigurationSection.pushAccessFields

  init?(in parent: ConfigurationSection) throws(ConfigurationError) {
    let section = try parent.section("fcm", known: Self.fields)
    guard section.isPresent(fields: Self.fields) else { return nil }
    self.init(
      serviceAccountFile: try section.requiredFile(
        "service_account_file", "the JSON key of a Firebase service account"),
      access: try section.pushAccess(),
      tokenEndpoint: try section.value("token_endpoint") { (text) throws(InvalidField) in
        try ServiceURL(text, allowsPath: true)
      },
      messagesPerMinute: try section.integer(
        "messages_per_minute", in: 1...ConfigurationLimits.fcmMessagesPerMinuteMax,
        default: ConfigurationLimits.fcmMessagesPerMinuteUsual,
        zero: "nothing would ever be sent; write what the Google Cloud console gives as the "
          + "project's quota, and stop sending with pushpool switch off"))
  }
}
