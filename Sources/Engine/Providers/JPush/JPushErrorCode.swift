/// `error.code` of an answer of JPush's Push API v3 (docs.jiguang.cn/jpush/server/push/rest_api_v3_push,
/// "调用返回").
package enum JPushErrorCode: Int, Sendable, CaseIterable {
  case internalError = 1000
  case methodNotAllowed = 1001
  case missingParameter = 1002
  case invalidParameter = 1003
  case authenticationFailed = 1004
  case messageTooLarge = 1005
  case invalidAppKey = 1008
  case unsupportedKey = 1009
  case noTarget = 1011
  case pacedPushesExceeded = 1012
  case notHTTPS = 1020
  case serviceTimeout = 1030
  case rateExceeded = 2002
  case appKeyRestricted = 2003
  case addressNotAllowed = 2004
  case volumeExceeded = 2005
  case premiumOnly = 2006
  case interfaceNotAllowed = 2007

  /// The HTTP status that it comes with. With another one it says nothing: an answer is judged by both together.
  package var httpStatus: Int {
    switch self {
    case .internalError: 500
    case .methodNotAllowed: 405
    case .missingParameter, .invalidParameter, .messageTooLarge, .invalidAppKey, .unsupportedKey,
      .noTarget, .pacedPushesExceeded:
      400
    case .authenticationFailed: 401
    case .notHTTPS: 404
    case .serviceTimeout: 503
    case .rateExceeded: 429
    case .appKeyRestricted, .addressNotAllowed, .volumeExceeded, .premiumOnly,
      .interfaceNotAllowed:
      403
    }
  }

  /// The code with its meaning, for logs and dead letters: what JPush writes beside it may hold a registration ID.
  package var reason: String { "\(rawValue) \(meaning)" }

  private var meaning: String {
    switch self {
    case .internalError: "internal error"
    case .methodNotAllowed: "method not allowed"
    case .missingParameter: "a parameter is missing"
    case .invalidParameter: "a parameter is invalid"
    case .authenticationFailed: "authentication failed"
    case .messageTooLarge: "message too large"
    case .invalidAppKey: "app key is invalid"
    case .unsupportedKey: "a key is not supported"
    case .noTarget: "no such target"
    case .pacedPushesExceeded: "too many paced pushes"
    case .notHTTPS: "only HTTPS is allowed"
    case .serviceTimeout: "internal timeout"
    case .rateExceeded: "rate limit exceeded"
    case .appKeyRestricted: "app key is restricted"
    case .addressNotAllowed: "address is not in the app's list"
    case .volumeExceeded: "too many messages to the target"
    case .premiumOnly: "for paying customers only"
    case .interfaceNotAllowed: "interface is not allowed"
    }
  }
}
