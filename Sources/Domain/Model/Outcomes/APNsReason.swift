/// Why APNs refuses a notification: every reason that Apple documents
/// (developer.apple.com, "Handling notification responses from APNs"). The simulator answers with them.
package enum APNsReason: String, Error, CaseIterable {
  // 400
  case badCollapseID = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageID = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  // 403
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
  case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
  // 404, 405
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  // 410
  case unregistered = "Unregistered"
  case expiredToken = "ExpiredToken"
  // 413
  case payloadTooLarge = "PayloadTooLarge"
  // 429
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  // 500, 503
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"

  /// The status that it comes with. With another one it says nothing: an answer is judged by both together.
  package var status: Int {
    switch self {
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority,
      .badTopic, .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType,
      .missingDeviceToken, .missingTopic, .payloadEmpty, .topicDisallowed:
      400
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
      .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken,
      .badEnvironmentKeyIDInToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .unregistered, .expiredToken: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }
}
