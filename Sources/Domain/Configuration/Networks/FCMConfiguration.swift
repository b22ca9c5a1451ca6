package import Model

/// An app at Firebase Cloud Messaging.
package struct FCMConfiguration: Sendable, Equatable {
  /// The JSON key of a service account.
  package var serviceAccountFile: String
  package var access: Access
  /// In place of the `token_uri` of the service account.
  package var tokenEndpoint: ServiceURL?
  /// The quota of the project; the fleet together sends no more.
  package var messagesPerMinute: Int

  package init(
    serviceAccountFile: String, access: Access = Access(), tokenEndpoint: ServiceURL? = nil,
    messagesPerMinute: Int = ConfigurationLimits.fcmMessagesPerMinuteUsual
  ) {
    self.serviceAccountFile = serviceAccountFile
    self.access = access
    self.tokenEndpoint = tokenEndpoint
    self.messagesPerMinute = messagesPerMinute
  }
}

extension AppConfiguration {
  /// Its account at FCM.
  package var fcm: FCMConfiguration? {
    get { networks.fcm }
    _modify { yield &networks.fcm }
  }
}

extension FCMConfiguration: NetworkConfiguration {
  package static let network = Network.fcm
  package var quotaPerMinute: Int? { messagesPerMinute }
  private static let fields =
    ["service_account_file", "token_endpoint", "messages_per_minute"]
    + ConfigurationSection.accessFields

  init?(in parent: ConfigurationSection) throws(ConfigurationError) {
    let section = try parent.section(
      Self.network.rawValue, known: Self.fields + ConfigurationSection.formerFields)
    guard section.isPresent(fields: Self.fields) else { return nil }
    self.init(
      serviceAccountFile: try section.requiredFile(
        "service_account_file", "the JSON key of a Firebase service account"),
      access: try section.access(),
      tokenEndpoint: try section.value("token_endpoint") { (text) throws(InvalidField) in
        try ServiceURL(text, allowsPath: true)
      },
      messagesPerMinute: try section.integer(
        "messages_per_minute", in: 1...ConfigurationLimits.fcmMessagesPerMinuteMax,
        default: ConfigurationLimits.fcmMessagesPerMinuteUsual,
        zero: AppFieldRule.noMessagesPerMinute))
  }
}
