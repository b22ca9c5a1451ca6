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
}
