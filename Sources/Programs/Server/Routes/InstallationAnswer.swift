internal import Model
internal import Operations
internal import Store

/// The answers about one installation.
enum InstallationAnswer {
  /// The outcome of an install. Who had the token before is no device's business.
  static func installed(_ result: InstallResult, by caller: Caller) -> JSONValue {
    var object: JSONObject = [
      "status": .string(result.status.rawValue), "object_id": .string(result.objectID),
      "evicted": .integer(result.evicted),
    ]
    if caller.role != .device, result.status == .moved {
      object["previous_user"] = .string(result.previousUser)
    }
    return .object(object)
  }

  /// The installation with its version.
  static func document(_ stored: StoredInstallation) -> APIResponse {
    APIResponse.ok(stored.installation.json()).with("etag", EntityTag(stored).field)
  }

  static func location(app: String, _ token: DeviceToken) -> String {
    "/v1/apps/\(app)/installations/\(token.network.rawValue)/\(PercentText.encoded(token.text))"
  }

  static let absent = Problem.notFound("the token is installed for nobody")

  static let otherOwner = Problem.conflict("another user has the token: nothing was changed")

  /// The statuses of problems that routes about one installation have in common.
  static let problems: [(status: Int, meaning: String)] = [
    PathValue.unknownApp,
    (422, "A part of the path, or a field of the body, breaks a rule; the answer names it"),
  ]
}
