package import Model

/// Every reason that APNs documents for refusing a notification
/// (developer.apple.com, "Handling notification responses from APNs").
package enum APNsReason: String, Sendable, CaseIterable {
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
  var status: Int {
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

  /// Whether it says that the key is not for this topic or environment, rather than that the token is bad.
  var concernsDestination: Bool {
    switch self {
    case .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken, .forbidden: true
    default: false
    }
  }

  /// What follows from it.
  ///
  /// - Parameters:
  ///   - sinceMs: the answer's `timestamp`.
  ///   - retryAfterMs: the answer's Retry-After.
  package func outcome(sinceMs: Int64?, retryAfterMs: UInt64?) -> Outcome {
    switch self {
    case .badDeviceToken:
      // No time comes with it: whoever removes the installation looks for the wrong environment
      // and for a mass death first.
      .doubtfulToken(reason: rawValue)
    case .unregistered, .expiredToken:
      .invalidToken(reason: rawValue, sinceMs: sinceMs)
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
      .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken,
      .badEnvironmentKeyIDInToken, .tooManyProviderTokenUpdates:
      .authRefused(reason: rawValue)
    case .tooManyRequests, .idleTimeout, .internalServerError, .serviceUnavailable, .shutdown:
      .retry(afterMs: retryAfterMs, reason: rawValue)
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .invalidPushType, .missingDeviceToken,
      .missingTopic, .payloadEmpty, .topicDisallowed, .badPath, .methodNotAllowed,
      .payloadTooLarge:
      .rejected(reason: rawValue)
    }
  }
}
