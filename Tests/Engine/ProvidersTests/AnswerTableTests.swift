import Model
import Testing

@testable import Providers

/// Every status crossed with every reason that a network documents, and with bodies that are nobody's.
@Suite("Status and reason together")
struct AnswerTableTests {
  static let statuses = [
    100, 204, 301, 302, 400, 401, 402, 403, 404, 405, 407, 408, 410, 413, 421, 425, 429, 431, 451,
    500, 501, 502, 503, 504, 529, 599,
  ]
  /// What stands between a worker and a network says such things.
  static let foreignBodies = [
    "", "<html><body>Forbidden</body></html>", "Forbidden", #"{"message":"Forbidden"}"#,
    #"{"error":"forbidden"}"#, #"{"error":{"code":403,"message":"denied"}}"#, "[]", "null",
  ]

  @Test("APNs removes a token for 410 with a reason of 410, and nothing else", arguments: statuses)
  func apnsRemovals(status: Int) throws {
    for reason in APNsReason.allCases {
      for timestamp in ["", #","timestamp":1790000000123"#] {
        let classification = try TestProvider.apns().classify(
          status, #"{"reason":"\#(reason.rawValue)"\#(timestamp)}"#)
        let isDead = status == 410 && [.unregistered, .expiredToken].contains(reason)
        #expect(
          isRemoval(classification) == isDead, "\(status) \(reason.rawValue): \(classification)")
        let isDoubtful = status == 400 && reason == .badDeviceToken
        #expect(
          isDoubt(classification) == isDoubtful, "\(status) \(reason.rawValue): \(classification)")
      }
    }
  }

  @Test("FCM removes a token for UNREGISTERED on a 404, and nothing else", arguments: statuses)
  func fcmRemovals(status: Int) throws {
    for code in FCMErrorCode.allCases {
      for name in ["NOT_FOUND", "INTERNAL", "UNAUTHENTICATED", "UNAVAILABLE"] {
        let classification = try TestProvider.fcm().classify(status, fcmError(name, code.rawValue))
        let isDead = status == 404 && code == .unregistered
        #expect(
          isRemoval(classification) == isDead, "\(status) \(code.rawValue): \(classification)")
        #expect(!isDoubt(classification))
      }
    }
  }

  @Test(
    "JPush doubts a token for 1011, or 1003 that blames it, on a 400, and for nothing else",
    arguments: statuses)
  func jpushDoubts(status: Int) throws {
    for code in JPushErrorCode.allCases {
      for message in ["x", "The registration_id 140fe1da9e22a23f92f is invalid!"] {
        let classification = try TestProvider.jpush().classify(
          status, jpushError(code.rawValue, message))
        let blames = code == .noTarget || code == .invalidParameter && message != "x"
        #expect(
          isDoubt(classification) == (status == 400 && blames),
          "\(status) \(code): \(classification)")
        #expect(!isRemoval(classification))
        #expect(!"\(classification)".contains("140fe1da9e22a23f92f"))
      }
    }
  }

  @Test("5xx and 429 are tried again, whatever reason they give", arguments: statuses)
  func retried(status: Int) throws {
    guard status == 429 || status >= 500 else { return }
    for reason in APNsReason.allCases where reason != .tooManyProviderTokenUpdates {
      #expect(
        isRetry(try TestProvider.apns().classify(status, #"{"reason":"\#(reason.rawValue)"}"#)),
        "\(status) \(reason.rawValue)")
    }
    for code in FCMErrorCode.allCases {
      #expect(
        isRetry(try TestProvider.fcm().classify(status, fcmError("NOT_FOUND", code.rawValue))),
        "\(status) \(code.rawValue)")
    }
    for code in JPushErrorCode.allCases {
      #expect(
        isRetry(try TestProvider.jpush().classify(status, jpushError(code.rawValue, "x"))),
        "\(status) \(code.rawValue)")
    }
  }

  @Test("that FCM has had too many pushes a second is no trouble of its own")
  func overRate() throws {
    let provider = try TestProvider.fcm()
    for (status, sign) in [(429, .overRate), (503, .trouble)] as [(Int, AnswerSign)] {
      let classification = provider.classify(
        status, fcmError("RESOURCE_EXHAUSTED", status == 429 ? "QUOTA_EXCEEDED" : "UNAVAILABLE"))
      #expect(provider.sign(of: classification, status: status) == sign)
    }
    // Apple means one device.
    let apns = try TestProvider.apns()
    let perDevice = apns.classify(429, #"{"reason":"TooManyRequests"}"#)
    #expect(apns.sign(of: perDevice, status: 429) != .overRate)
  }

  @Test("only a network's own refusal pauses a credential", arguments: statuses)
  func foreignRefusals(status: Int) throws {
    let providers: [any PushProvider] = try [
      TestProvider.apns(), TestProvider.fcm(), TestProvider.jpush(),
    ]
    for provider in providers {
      // FCM may say no more than 401.
      for body in Self.foreignBodies
      where !(status == 401 && body.isEmpty && provider.network == .fcm) {
        let classification = provider.classify(status, body)
        #expect(!isRefusal(classification), "\(status) \(body): \(classification)")
        #expect(
          !isRemoval(classification) && !isDoubt(classification) && classification != .accepted)
        if [408, 425, 429].contains(status) || status >= 500 { continue }
        guard case .foreign = classification else {
          Issue.record("\(status) \(body): \(classification)")
          continue
        }
        #expect(provider.sign(of: classification, status: status) == .trouble)
      }
    }
  }

  @Test(
    "a code of FCM's pauses no credential with a status that is not its own", arguments: statuses)
  func misplacedCodes(status: Int) throws {
    for code in FCMErrorCode.allCases where code.httpStatus != nil && code.httpStatus != status {
      for name in ["UNAUTHENTICATED", "PERMISSION_DENIED"] {
        let classification = try TestProvider.fcm().classify(status, fcmError(name, code.rawValue))
        #expect(!isRefusal(classification), "\(status) \(name) \(code.rawValue): \(classification)")
      }
    }
  }

  @Test(
    "a code of JPush's pauses a credential only with its own status", arguments: statuses)
  func misplacedNumbers(status: Int) throws {
    let refusals: [JPushErrorCode] = [
      .authenticationFailed, .invalidAppKey, .appKeyRestricted, .addressNotAllowed,
      .interfaceNotAllowed,
    ]
    for code in JPushErrorCode.allCases {
      let classification = try TestProvider.jpush().classify(status, jpushError(code.rawValue, "x"))
      let isRefused = refusals.contains(code) && code.httpStatus == status
      #expect(isRefusal(classification) == isRefused, "\(status) \(code): \(classification)")
    }
  }

  @Test("an answer to one device that is too long to be read is judged by its status alone")
  func tooLong() throws {
    let padding = String(repeating: "x", count: ProviderLimits.answerBytesMax)
    let dead =
      #"{"error":{"status":"NOT_FOUND","message":"\#(padding)","details":["#
      + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}"#
      + "]}}"
    guard case .rejected(let reason) = try TestProvider.fcm().classify(404, dead) else {
      Issue.record("not rejected")
      return
    }
    #expect(reason.contains("more than"))
  }

  private func fcmError(_ status: String, _ code: String) -> String {
    #"{"error":{"code":1,"status":"\#(status)","details":[{"@type":"#
      + #""type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}]}}"#
  }

  private func jpushError(_ code: Int, _ message: String) -> String {
    #"{"msg_id":1828256757,"error":{"code":\#(code),"message":"\#(message)"}}"#
  }

  private func isRemoval(_ classification: Classification) -> Bool {
    if case .invalidToken = classification { true } else { false }
  }

  private func isDoubt(_ classification: Classification) -> Bool {
    if case .doubtfulToken = classification { true } else { false }
  }

  private func isRetry(_ classification: Classification) -> Bool {
    if case .retry = classification { true } else { false }
  }

  private func isRefusal(_ classification: Classification) -> Bool {
    if case .authRefused = classification { true } else { false }
  }
}
