internal import Model

/// An error of JPush's Push API v3 (docs.jiguang.cn/jpush/server/push/rest_api_v3_push, "调用返回").
struct JPushError: Error {
  enum Code: Int {
    case internalError = 1000
    case methodNotAllowed = 1001
    case missingParameter = 1002
    case invalidParameter = 1003
    case authenticationFailed = 1004
    case messageTooLarge = 1005
    case invalidAppKey = 1008
    case unsupportedKey = 1009
    case noTarget = 1011
    case rateExceeded = 2002

    fileprivate var status: Int {
      switch self {
      case .internalError: 500
      case .methodNotAllowed: 405
      case .missingParameter, .invalidParameter, .messageTooLarge, .invalidAppKey,
        .unsupportedKey, .noTarget:
        400
      case .authenticationFailed: 401
      case .rateExceeded: 429
      }
    }

    fileprivate var message: String {
      switch self {
      case .internalError: "Internal server error"
      case .methodNotAllowed: "Only POST is supported"
      case .missingParameter: "Missing parameter"
      case .invalidParameter: "Invalid parameter"
      case .authenticationFailed: "Authen failed"
      case .messageTooLarge: "Message body is too large"
      case .invalidAppKey: "app_key is invalid"
      case .unsupportedKey: "Unsupported key"
      case .noTarget:
        "cannot find user by this audience or has been inactive for more than 255 days"
      case .rateExceeded: "Rate limit exceeded"
      }
    }
  }

  private let status: Int
  private let code: Int
  private let message: String

  init(_ code: Code, _ message: String? = nil) {
    status = code.status
    self.code = code.rawValue
    self.message = message ?? code.message
  }

  /// Makes the error that a rule of the script says, of a request to this registration ID.
  init(status: Int, code: Int, registrationID: UnsafeRawBufferPointer) {
    self.status = status
    self.code = code
    let known = Code(rawValue: code)
    message =
      known == .invalidParameter
      ? Self.blame(registrationID) : known?.message ?? "Error \(code)"
  }

  static func invalid(_ registrationID: UnsafeRawBufferPointer) -> JPushError {
    JPushError(.invalidParameter, blame(registrationID))
  }

  private static func blame(_ registrationID: UnsafeRawBufferPointer) -> String {
    "The registration_id \(registrationID.text) is invalid!"
  }

  var answer: Answer {
    let error: JSONObject = ["code": .integer(code), "message": .string(message)]
    return Answer(status: status, body: JSONValue.object(["error": .object(error)]).bytes())
  }
}
