import Model

/// The `error` object of an answer of FCM's HTTP v1 API (google.rpc.Status).
struct FCMError {
  /// `errorCode` of the FcmError detail, the most precise of the three. When several of them disagree, it is never
  /// UNREGISTERED: a token is removed only for what nothing contradicts.
  let errorCode: FCMErrorCode?
  /// `reason` of the google.rpc.ErrorInfo detail, such as `SERVICE_DISABLED`: what is wrong with the project or the account.
  let infoReason: String?
  /// The canonical status, such as `INVALID_ARGUMENT`.
  let status: String?
  /// The first field that a google.rpc.BadRequest detail complains about; "" when it names none.
  let badField: String?
  /// Whether it blames the token without naming a field, in its text or by APNs's reason in an ApnsError detail.
  private let blamesToken: Bool

  /// The canonical statuses that speak of our credential (google.rpc.Code).
  private static let credentialStatuses = ["UNAUTHENTICATED", "PERMISSION_DENIED"]

  /// The canonical statuses after which the same request may be sent again (google.rpc.Code).
  private static let passingStatuses = ["ABORTED", "CANCELLED"]
  /// Google's text about a token that is none: "The registration token is not a valid FCM registration token".
  private static let tokenText = "registration token"
  /// APNs's words for tokens, as FCM passes them on.
  private static let tokenReasons = [
    APNsReason.badDeviceToken, .expiredToken, .unregistered,
  ].map(\.rawValue)

  var concernsCredential: Bool { status.map(Self.credentialStatuses.contains) ?? false }

  /// Whether it passes by itself, whatever the HTTP status.
  var isPassing: Bool { status.map(Self.passingStatuses.contains) ?? false }

  /// The field that it blames; nil or "" when it names none.
  var blamedField: String? {
    if let badField, !badField.isEmpty { return badField }
    return blamesToken ? "message.token" : badField
  }

  /// Nil when the answer is not FCM's JSON.
  init?(_ answer: ProviderAnswer) {
    guard let error = answer.object?["error"]?.objectValue else { return nil }
    var errorCodes: [FCMErrorCode?] = []
    var badField: String?
    var infoReason: String?
    var blamesToken = error["message"]?.stringValue?.contains(Self.tokenText) ?? false
    for detail in error["details"]?.arrayValue ?? [] {
      guard let detail = detail.objectValue, let type = detail["@type"]?.stringValue else {
        continue
      }
      if type.hasSuffix("google.firebase.fcm.v1.FcmError") {
        errorCodes.append(
          detail["errorCode"]?.stringValue.flatMap { FCMErrorCode(rawValue: $0) })
      } else if type.hasSuffix("google.rpc.BadRequest") {
        let violation = detail["fieldViolations"]?.arrayValue?.first?.objectValue
        badField = violation?["field"]?.stringValue ?? ""
      } else if type.hasSuffix("google.rpc.ErrorInfo") {
        infoReason = detail["reason"]?.stringValue
      } else if type.hasSuffix("google.firebase.fcm.v1.ApnsError") {
        blamesToken = blamesToken || Self.tokenReasons.contains(detail["reason"]?.stringValue ?? "")
      }
    }
    errorCode = errorCodes.last { $0 != .unregistered } ?? errorCodes.last ?? nil
    self.badField = badField
    self.infoReason = infoReason
    self.blamesToken = blamesToken
    status = error["status"]?.stringValue
    // Google's errors name a status always; what stands before it writes objects of the same name.
    if status == nil, errorCode == nil { return nil }
  }
}
