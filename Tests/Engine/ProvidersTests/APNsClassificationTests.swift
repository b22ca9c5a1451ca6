import Model
import Reactor
import Testing

@testable import Providers

@Suite("Answers of APNs")
struct APNsClassificationTests {
  static let rejected: [(Int, String)] = [
    (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"),
    (400, "BadPriority"), (400, "BadTopic"), (400, "DeviceTokenNotForTopic"),
    (400, "DuplicateHeaders"), (400, "InvalidPushType"), (400, "MissingDeviceToken"),
    (400, "MissingTopic"), (400, "PayloadEmpty"), (400, "TopicDisallowed"), (404, "BadPath"),
    (405, "MethodNotAllowed"), (413, "PayloadTooLarge"),
  ]
  static let authRefused: [(Int, String)] = [
    (403, "BadCertificate"), (403, "BadCertificateEnvironment"), (403, "ExpiredProviderToken"),
    (403, "Forbidden"), (403, "InvalidProviderToken"), (403, "MissingProviderToken"),
    (403, "UnrelatedKeyIdInToken"), (403, "BadEnvironmentKeyIdInToken"),
    (429, "TooManyProviderTokenUpdates"),
  ]
  static let retried: [(Int, String)] = [
    (400, "IdleTimeout"), (429, "TooManyRequests"), (500, "InternalServerError"),
    (503, "ServiceUnavailable"), (503, "Shutdown"),
  ]
  static let invalid = ["BadDeviceToken", "Unregistered", "ExpiredToken"]

  @Test("200 without a body is accepted, and with one it is not APNs's")
  func accepted() throws {
    #expect(try classify(200, "") == .accepted)
    #expect(
      try classify(200, "<html>\n  <h1>Log \"in\"</h1>")
        == .foreign(
          reason: "status 200 that is not APNs's (\"<html> <h1>Log 'in'</h1>\"): "
            + "check the endpoint and what stands before it"))
    #expect(
      try TestProvider.apns().sign(of: .foreign(reason: ""), status: 200) == .trouble)
  }

  @Test("what can never succeed is rejected and removes nothing", arguments: rejected)
  func rejects(status: Int, reason: String) throws {
    #expect(try classify(status, body(reason)) == .rejected(reason: reason))
  }

  @Test("a refused credential parks work", arguments: authRefused)
  func parks(status: Int, reason: String) throws {
    #expect(try classify(status, body(reason)) == .authRefused(reason: reason))
  }

  @Test("trouble is retried, not before Retry-After", arguments: retried)
  func retries(status: Int, reason: String) throws {
    #expect(try classify(status, body(reason)) == .retry(afterMs: nil, reason: reason))
    #expect(
      try classify(status, body(reason), retryAfterSeconds: 7)
        == .retry(afterMs: 7_000, reason: reason))
  }

  @Test(
    "410 means the token died at the time that APNs gives",
    arguments: ["Unregistered", "ExpiredToken"])
  func dead(reason: String) throws {
    #expect(
      try classify(410, #"{"reason":"\#(reason)","timestamp":1790000000123}"#)
        == .invalidToken(reason: reason, sinceMs: 1_790_000_000_123))
    #expect(try classify(410, body(reason)) == .invalidToken(reason: reason, sinceMs: nil))
  }

  @Test(
    "the time of a 410 is read as relays print it",
    arguments: [
      ("1454402113000.0", 1_454_402_113_000), ("1454402113000.9", 1_454_402_113_000),
      ("1.454402113e12", 1_454_402_113_000), ("1.454402113E+12", 1_454_402_113_000),
      (#""1454402113123""#, 1_454_402_113_123), ("0", 0), ("0.0", 0),
      ("253402300799999", Limits.instantMsMax),
    ])
  func relayedTime(timestamp: String, expected: Int64) throws {
    for reason in ["Unregistered", "ExpiredToken"] {
      #expect(
        try classify(410, #"{"reason":"\#(reason)","timestamp":\#(timestamp)}"#)
          == .invalidToken(reason: reason, sinceMs: expected))
    }
  }

  @Test(
    "a token is kept when the time of its 410 cannot be read",
    arguments: [
      #""2016-02-02T08:35:13Z""#, #""""#, #"" 1454402113000""#, #""+1454402113000""#,
      #""-1""#, #""1454402113000.0""#, #""99999999999999999999""#, "-1", "-0.5", "-1e400",
      "253402300800000", "9223372036854775808", "1e18", "1e400", "null", "true", "{}", "[]",
      "[1454402113000]",
    ])
  func unreadableTime(timestamp: String) throws {
    let provider = try TestProvider.apns()
    for reason in ["Unregistered", "ExpiredToken"] {
      let classification = try classify(
        410, #"{"reason":"\#(reason)","timestamp":\#(timestamp)}"#)
      #expect(
        classification
          == .rejected(reason: "\(reason) with status 410 and an unreadable timestamp"))
      #expect(provider.sign(of: classification, status: 410) == .none)
    }
  }

  @Test("BadDeviceToken is a doubtful token, whatever time stands there")
  func badDeviceToken() throws {
    #expect(try classify(400, body("BadDeviceToken")) == .doubtfulToken(reason: "BadDeviceToken"))
    #expect(
      try classify(400, #"{"reason":"BadDeviceToken","timestamp":1}"#)
        == .doubtfulToken(reason: "BadDeviceToken"))
  }

  @Test("every documented reason is in one of these tables")
  func complete() {
    let tested = Set(
      (Self.rejected + Self.authRefused + Self.retried).map(\.1) + Self.invalid)
    #expect(tested == Set(APNsReason.allCases.map(\.rawValue)))
    #expect(tested.count == 32)
  }

  @Test(
    "an unknown reason goes by its status",
    arguments: [
      (400, Classification.rejected(reason: "New")), (401, .authRefused(reason: "New")),
      (403, .authRefused(reason: "New")), (404, .rejected(reason: "New")),
      (408, .retry(afterMs: nil, reason: "New")), (410, .rejected(reason: "New")),
      (429, .retry(afterMs: nil, reason: "New")), (500, .retry(afterMs: nil, reason: "New")),
      (502, .retry(afterMs: nil, reason: "New")), (302, .rejected(reason: "New")),
    ])
  func unknownReason(status: Int, expected: Classification) throws {
    #expect(try classify(status, body("New")) == expected)
  }

  @Test(
    "a refused credential is one with a relay's 401, too",
    arguments: ["InvalidProviderToken", "MissingProviderToken", "ExpiredProviderToken"])
  func refusedWith401(reason: String) throws {
    #expect(try classify(401, body(reason)) == .authRefused(reason: reason))
    #expect(try classify(401, body("BadDeviceToken")) != .authRefused(reason: "BadDeviceToken"))
  }

  @Test("an unknown refusal may be of the app")
  func unknownRefusal() throws {
    let provider = try TestProvider.apns()
    #expect(provider.sign(of: .rejected(reason: "New"), status: 400) == .misfit)
    #expect(provider.sign(of: .rejected(reason: "MissingDeviceToken"), status: 400) == .none)
  }

  @Test(
    "a 410 whose reason is not spelt as documented keeps the token, with a timestamp, too",
    arguments: [
      "unregistered", "UNREGISTERED", "Unregistered ", " Unregistered", "Unregistered\\n",
      "expiredToken", "ExpiredToken\\t", "Unregistered\\u0000", "Gone", "New",
    ])
  func unknownGone(reason: String) throws {
    let provider = try TestProvider.apns()
    for timestamp in ["", #","timestamp":1790000000123"#] {
      let classification = try classify(410, #"{"reason":"\#(reason)"\#(timestamp)}"#)
      guard case .rejected = classification else {
        Issue.record("\(reason)\(timestamp): \(classification)")
        continue
      }
      #expect(provider.sign(of: classification, status: 410) == .misfit)
    }
  }

  @Test(
    "a body without a reason goes by its status and never removes an installation",
    arguments: ["", "<html>", "{}", "[]", #"{"reason":7}"#, "{\"reason\":\"\u{0}\"}", "{"])
  func noReason(body: String) throws {
    #expect(try classify(503, body) == .retry(afterMs: nil, reason: "status 503"))
    for status in [204, 302, 400, 401, 403, 404, 407, 410, 421] {
      guard case .foreign(let reason) = try classify(status, body) else {
        Issue.record("\(status) \(body) counts as APNs's own")
        continue
      }
      #expect(reason.hasPrefix("status \(status) that is not APNs's"))
      #expect(reason.hasSuffix(": check the endpoint and what stands before it"))
    }
  }

  @Test("an endless or deeply nested body is judged by its status")
  func hostileBody() throws {
    let long = #"{"reason":"Unregistered","x":""# + String(repeating: "x", count: 20_000) + #""}"#
    #expect(
      try classify(410, long) == .rejected(reason: "status 410 with more than 16,384 bytes"))
    let deep = String(repeating: "[", count: 10_000)
    #expect(try classify(500, deep) == .retry(afterMs: nil, reason: "status 500"))
  }

  @Test("an unknown reason is cut short and stripped of control characters")
  func hostileReason() throws {
    let reason = String(repeating: "r", count: 5_000)
    guard case .rejected(let text) = try classify(400, #"{"reason":"\u001b[31m\#(reason)"}"#) else {
      Issue.record("not rejected")
      return
    }
    #expect(text.utf8.count < 100)
    #expect(!text.utf8.contains(0x1b))
  }

  @Test("a Retry-After of years is a day, and a negative one is none")
  func hugeRetryAfter() throws {
    #expect(
      try classify(503, "", retryAfterSeconds: .max)
        == .retry(afterMs: Limits.retryAfterMsMax, reason: "status 503"))
    #expect(
      try classify(503, "", retryAfterSeconds: -1)
        == .retry(afterMs: nil, reason: "status 503"))
  }

  private func body(_ reason: String) -> String { #"{"reason":"\#(reason)"}"# }

  private func classify(
    _ status: Int, _ body: String, retryAfterSeconds: Int? = nil
  ) throws -> Classification {
    try TestProvider.apns().classify(status, body, retryAfterSeconds: retryAfterSeconds)
  }
}
