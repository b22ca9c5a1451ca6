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
