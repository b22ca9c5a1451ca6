/// Remedies for the refusals that Google explains (google.rpc.ErrorInfo; cloud.google.com, google.api.ErrorReason).
enum FCMRefusal {
  /// The rest of a sentence; nil for a reason that nothing is known of.
  static func remedy(_ reason: String, project: String, account: String) -> String? {
    switch reason {
    case "SERVICE_DISABLED":
      "enable the Firebase Cloud Messaging API (fcm.googleapis.com) for project \(project) in the "
        + "Google Cloud console, and wait some minutes"
    case "BILLING_DISABLED": "enable billing for project \(project) in the Google Cloud console"
    case "CONSUMER_SUSPENDED": "Google has suspended project \(project): ask its support"
    case "CONSUMER_INVALID":
      "project \(project) does not exist or is deleted: use the service account of the app's project"
    case "IAM_PERMISSION_DENIED", "USER_PROJECT_DENIED":
      "give \(account) the role Firebase Cloud Messaging API Admin in project \(project)"
    case "ACCOUNT_STATE_INVALID":
      "\(account) is disabled or deleted: enable it, or use another service account"
    case "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
      "the token does not allow messages: check the service account's token_uri"
    default: nil
    }
  }
}
