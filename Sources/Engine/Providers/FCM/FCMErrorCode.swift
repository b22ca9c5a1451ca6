/// `errorCode` of google.firebase.fcm.v1.FcmError (firebase.google.com, "FCM error codes").
package enum FCMErrorCode: String, Sendable, CaseIterable {
  case unspecified = "UNSPECIFIED_ERROR"
  case invalidArgument = "INVALID_ARGUMENT"
  case unregistered = "UNREGISTERED"
  case senderIDMismatch = "SENDER_ID_MISMATCH"
  case quotaExceeded = "QUOTA_EXCEEDED"
  case unavailable = "UNAVAILABLE"
  case internalError = "INTERNAL"
  case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"

  /// The HTTP status that it comes with; nil when it comes with any. With another one it says nothing: an answer is
  /// judged by both together.
  var httpStatus: Int? {
    switch self {
    case .unspecified: nil
    case .invalidArgument: 400
    case .thirdPartyAuthError: 401
    case .senderIDMismatch: 403
    case .unregistered: 404
    case .quotaExceeded: 429
    case .internalError: 500
    case .unavailable: 503
    }
  }
}
