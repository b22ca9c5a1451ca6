internal import Model

extension APNsReason {
  /// Whether it says that the key is not for this topic or environment, rather than that the token is bad.
  var concernsDestination: Bool {
    switch self {
    case .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken, .forbidden: true
    default: false
    }
  }

  /// The sign that a rejection for this reason gives about other pushes.
  var rejectionSign: AnswerSign {
    switch self {
    case .badTopic, .missingTopic, .topicDisallowed, .badPath, .methodNotAllowed: .setup
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders,
      .invalidPushType, .payloadEmpty, .payloadTooLarge:
      .content(isSure: true)
    default: .none
    }
  }

  /// Returns the consequence of the reason.
  ///
  /// - Parameters:
  ///   - timestamp: the answer's.
  ///   - retryAfterMs: the answer's Retry-After.
  func classification(timestamp: APNsTimestamp, retryAfterMs: UInt64?) -> Classification {
    switch self {
    case .badDeviceToken:
      // No time comes with it: whoever removes the installation looks for the wrong environment
      // and for a mass death first.
      .doubtfulToken(reason: rawValue)
    case .unregistered, .expiredToken:
      timestamp.verdict(reason: rawValue)
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
