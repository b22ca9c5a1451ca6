internal import Model

extension AppForm {
  /// The app at FCM.
  package struct FCM: Sendable, Equatable {
    /// In place of the `token_uri` of the service account.
    package var tokenEndpoint: ServiceURL?
    /// The quota of the project.
    package var messagesPerMinute: Int
    package var access: Access

    package init(
      tokenEndpoint: ServiceURL? = nil,
      messagesPerMinute: Int = ConfigurationLimits.fcmMessagesPerMinuteUsual,
      access: Access = Access()
    ) {
      self.tokenEndpoint = tokenEndpoint
      self.messagesPerMinute = messagesPerMinute
      self.access = access
    }
  }
}

extension AppSecretName {
  package static func fcm(_ field: Field) -> AppSecretName {
    AppSecretName(AppForm.FCM.part(nil), field)
  }
}

extension AppForm.FCM: NetworkForm {
  static let network = Network.fcm
  static let fields = ["token_endpoint", "messages_per_minute"]
  static let secretFields: [AppSecretName.Field] = [.serviceAccount]

  var requiredSecret: AppSecretName.Field { .serviceAccount }

  var quotaPerMinute: Int? { messagesPerMinute }

  var destinations: [String?] { access.destinations + [tokenEndpoint?.description] }

  init(_ section: inout AppFormSection) throws(InvalidField) {
    try section.require(.serviceAccount, "the JSON key of a Firebase service account")
    self.init(
      tokenEndpoint: try section.reader.value("token_endpoint") { (text) throws(InvalidField) in
        try ServiceURL(text, allowsPath: true)
      },
      messagesPerMinute: try section.reader.integer(
        "messages_per_minute", in: 1...ConfigurationLimits.fcmMessagesPerMinuteMax,
        zero: AppFieldRule.noMessagesPerMinute)
        ?? ConfigurationLimits.fcmMessagesPerMinuteUsual,
      access: try section.access())
  }

  func write(to object: inout JSONObject, _ secret: (AppSecretName.Field) -> JSONValue?) {
    object.add(secret(.serviceAccount), for: "service_account")
    object.add(tokenEndpoint.map { .string($0.description) }, for: "token_endpoint")
    guard messagesPerMinute != ConfigurationLimits.fcmMessagesPerMinuteUsual else { return }
    object.add(.integer(messagesPerMinute), for: "messages_per_minute")
  }
}
