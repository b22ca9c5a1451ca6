internal import Model

/// An error of FCM HTTP v1 in google.rpc's JSON form
/// (firebase.google.com, "ErrorCode"; google.rpc.Status, google.rpc.BadRequest).
struct FCMError: Error {
  var status: Int
  /// FcmError's errorCode, such as UNREGISTERED; nil leaves that detail out.
  var code: String?
  var message = ""
  /// Adds a google.rpc.BadRequest detail that blames this field.
  var fieldViolation: String?

  /// The name that google.rpc gives the HTTP status.
  private var statusName: String {
    switch status {
    case 400: "INVALID_ARGUMENT"
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 405: "UNIMPLEMENTED"
    case 429: "RESOURCE_EXHAUSTED"
    case 500: "INTERNAL"
    case 503: "UNAVAILABLE"
    default: "UNKNOWN"
    }
  }

  var body: [UInt8] {
    var details: [JSONValue] = []
    if let code {
      details.append(
        .object([
          "@type": .string("type.googleapis.com/google.firebase.fcm.v1.FcmError"),
          "errorCode": .string(code),
        ]))
    }
    if let fieldViolation {
      let violation: JSONObject = [
        "field": .string(fieldViolation), "description": .string(message),
      ]
      details.append(
        .object([
          "@type": .string("type.googleapis.com/google.rpc.BadRequest"),
          "fieldViolations": .array([.object(violation)]),
        ]))
    }
    let error: JSONObject = [
      "code": .integer(status),
      "message": .string(message.isEmpty ? (code ?? statusName) : message),
      "status": .string(statusName),
      "details": .array(details),
    ]
    return JSONValue.object(["error": .object(error)]).bytes()
  }

  var answer: Answer { Answer(status: status, body: body) }
}
