import Model
import Testing

@testable import Providers

@Suite("Answers of FCM")
struct FCMClassificationTests {
  @Test(
    "a 200 without the name of a message is not FCM's",
    arguments: [
      "", "{}", "[]", "<html><body>Please log in</body></html>", #"{"name":7}"#, #"{"name":null}"#,
      #"{"name":""}"#, #"{"name":"Guest WiFi"}"#, #"{"name":"x"}<html>"#,
      #"{"error":{"code":404,"status":"NOT_FOUND"}}"#, #"<meta "name": "viewport">"#,
    ])
  func foreignAccept(body: String) throws {
    guard case .foreign(let reason) = try classify(200, body) else {
      Issue.record("\(body) counts as FCM's own")
      return
    }
    #expect(reason.hasPrefix("status 200 that is not FCM's"))
    #expect(try TestProvider.fcm().sign(of: .foreign(reason: reason), status: 200) == .trouble)
  }

  @Test("a 200 that was cut off is an accept unless what came is somebody else's")
  func cutAccept() throws {
    func classify(_ body: String) throws -> Classification {
      let provider = try TestProvider.fcm()
      return Array(body.utf8).withUnsafeBytes {
        provider.classify(
          ProviderAnswer(status: 200, retryAfterSeconds: nil, body: $0, isPartial: true))
      }
    }
    #expect(try classify("") == .accepted)
    #expect(try classify(#"{"na"#) == .accepted)
    #expect(try classify("{ \"name\": \"projects/p/mess") == .accepted)
    for body in ["<html>", #"{"error":{"code":503,"mess"#, #"{"name":"Gu"#, "[", "{}"] {
      guard case .foreign = try classify(body) else {
        Issue.record("\(body), which was cut off, counts as FCM's own")
        return
      }
    }
  }

  @Test("200 is accepted")
  func accepted() throws {
    #expect(try classify(200, #"{"name":"projects/demo-shop/messages/1"}"#) == .accepted)
  }

  @Test("UNREGISTERED is a dead token")
  func unregistered() throws {
    #expect(
      try classify(404, error(404, "NOT_FOUND", fcm: "UNREGISTERED"))
        == .invalidToken(reason: "UNREGISTERED", sinceMs: nil))
  }

  @Test(
    "UNREGISTERED beside a code that says otherwise removes nothing, whichever comes first",
    arguments: [
      #""errorCode":"SENDER_ID_MISMATCH""#, #""errorCode":"UNSPECIFIED_ERROR""#,
      #""errorCode":"NEW""#, #""errorCode":"unregistered""#, #""errorCode":7"#, #""x":1"#,
    ])
  func contradicted(other: String) throws {
    let codes = [#""errorCode":"UNREGISTERED""#, other]
    for codes in [codes, codes.reversed(), codes + codes.prefix(1)] {
      let classification = try classify(404, error(404, "NOT_FOUND", codes: codes))
      guard case .rejected = classification else {
        Issue.record("\(codes): \(classification)")
        continue
      }
    }
    #expect(
      try classify(404, error(404, "NOT_FOUND", codes: [codes[0], codes[0]]))
        == .invalidToken(reason: "UNREGISTERED", sinceMs: nil))
  }

  @Test("INVALID_ARGUMENT with a BadRequest is the payload: rejected with the field")
  func badRequest() throws {
    let body = error(
      400, "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT", badField: "message.android.ttl")
    #expect(
      try classify(400, body) == .rejected(reason: "INVALID_ARGUMENT in message.android.ttl"))
    #expect(
      try classify(400, error(400, "INVALID_ARGUMENT", badField: "message.token"))
        == .rejected(reason: "INVALID_ARGUMENT in message.token"))
  }

  // Regression: fcm-django#223.
  @Test("INVALID_ARGUMENT with only an FcmError may be the token: rejected, never uninstalled")
  func unsure() throws {
    #expect(
      try classify(400, error(400, "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT"))
        == .rejected(reason: "INVALID_ARGUMENT"))
  }

  // As in firebase-admin-java#1064 and on Google's page of error codes.
  @Test(
    "a token that FCM or APNs cannot read is blamed by the text, too, and says nothing of the job")
  func unnamedToken() throws {
    let text = "The registration token is not a valid FCM registration token"
    let bodies = [
      error(400, "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT", text: text),
      error(400, "INVALID_ARGUMENT", text: text),
      error(400, "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT", apns: "BadDeviceToken"),
    ]
    for body in bodies {
      let classification = try classify(400, body)
      #expect(classification == .rejected(reason: "INVALID_ARGUMENT in message.token"))
      #expect(try TestProvider.fcm().sign(of: classification, status: 400) == .none)
    }
    #expect(
      try classify(
        400,
        error(
          400, "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT", badField: "message.data", text: text))
        == .rejected(reason: "INVALID_ARGUMENT in message.data"))
  }

  @Test(
    "Google's words for what passes by itself are tried again",
    arguments: [(409, "ABORTED"), (499, "CANCELLED")])
  func passing(status: Int, name: String) throws {
    let classification = try classify(status, error(status, name))
    #expect(classification == .retry(afterMs: 10_000, reason: name))
    #expect(try TestProvider.fcm().sign(of: classification, status: status) == .trouble)
  }

  @Test(
    "a refusal that FCM has for no token may be of the app",
    arguments: [(404, "NOT_FOUND"), (400, "FAILED_PRECONDITION"), (418, "NEW")])
  func unknownRefusal(status: Int, name: String) throws {
    let classification = try classify(status, error(status, name))
    #expect(classification == .rejected(reason: name))
    let provider = try TestProvider.fcm()
    #expect(provider.sign(of: classification, status: status) == .misfit)
    for relayed in [
      error(400, "NOT_FOUND", fcm: "UNREGISTERED"), "{" + String(repeating: " ", count: 70_000),
    ] {
      let classification = try classify(400, relayed)
      #expect(provider.sign(of: classification, status: 400) == .none, "\(classification)")
    }
  }

  @Test(
    "a foreign sender and Firebase's own APNs credential are rejected",
    arguments: [
      (403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
      (401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"),
    ])
  func rejected(status: Int, name: String, code: String) throws {
    #expect(try classify(status, error(status, name, fcm: code)) == .rejected(reason: code))
  }

  @Test(
    "throttling waits a minute and trouble ten seconds, and longer when FCM says so",
    arguments: [
      (429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", UInt64(60_000)),
      (503, "UNAVAILABLE", "UNAVAILABLE", 10_000), (500, "INTERNAL", "INTERNAL", 10_000),
    ])
  func retried(status: Int, name: String, code: String, minMs: UInt64) throws {
    let body = error(status, name, fcm: code)
    #expect(try classify(status, body) == .retry(afterMs: minMs, reason: code))
    #expect(
      try classify(status, body, retryAfterSeconds: 2) == .retry(afterMs: minMs, reason: code))
    #expect(
      try classify(status, body, retryAfterSeconds: 90)
        == .retry(afterMs: 90_000, reason: code))
  }

  @Test("UNAUTHENTICATED and PERMISSION_DENIED without a code of FCM's are our credential")
  func authRefused() throws {
    #expect(
      try classify(401, error(401, "UNAUTHENTICATED"))
        == .authRefused(reason: "UNAUTHENTICATED"))
    #expect(
      try classify(403, error(403, "PERMISSION_DENIED"))
        == .authRefused(reason: "PERMISSION_DENIED"))
  }

  @Test(
    "what is not FCM's JSON is a wrong endpoint, not a dead token and no refusal",
    arguments: [
      "", "<html>Not Found</html>", "{}", "UNREGISTERED",
    ])
  func wrongEndpoint(body: String) throws {
    for status in [204, 302, 400, 403, 404, 407, 410, 413] {
      guard case .foreign(let reason) = try classify(status, body) else {
        Issue.record("\(status) \(body) counts as FCM's own")
        continue
      }
      #expect(reason.hasPrefix("status \(status) that is not FCM's"))
    }
  }

  @Test("a 404 of FCM without UNREGISTERED removes nothing")
  func notFound() throws {
    #expect(try classify(404, error(404, "NOT_FOUND")) == .rejected(reason: "NOT_FOUND"))
    #expect(
      try classify(404, error(404, "NOT_FOUND", fcm: "UNSPECIFIED_ERROR"))
        == .rejected(reason: "NOT_FOUND"))
  }

  @Test("UNREGISTERED in another detail than FcmError counts for nothing")
  func foreignDetail() throws {
    let body =
      #"{"error":{"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/other","#
      + #""errorCode":"UNREGISTERED"}]}}"#
    #expect(try classify(404, body) == .rejected(reason: "NOT_FOUND"))
  }

  @Test(
    "an answer without a reason goes by its status",
    arguments: [
      (408, Classification.retry(afterMs: 10_000, reason: "status 408")),
      (429, .retry(afterMs: 60_000, reason: "status 429")),
      (500, .retry(afterMs: 10_000, reason: "status 500")),
      (502, .retry(afterMs: 10_000, reason: "status 502")),
    ])
  func byStatus(status: Int, expected: Classification) throws {
    for body in ["", "<html>", "[1]", #"{"error":"x"}"#] {
      #expect(try classify(status, body) == expected)
    }
  }

  /// An error as FCM writes it.
  private func error(
    _ code: Int, _ status: String, fcm: String? = nil, badField: String? = nil,
    apns: String? = nil, text: String = "m"
  ) -> String {
    var details: [String] = []
    if let badField {
      details.append(
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"#
          + #""\#(badField)","description":"d"}]}"#)
    }
    if let fcm {
      details.append(
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(fcm)"}"#)
    }
    if let apns {
      details.append(
        #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":400,"#
          + #""reason":"\#(apns)"}"#)
    }
    return #"{"error":{"code":\#(code),"message":"\#(text)","status":"\#(status)","details":["#
      + details.joined(separator: ",") + "]}}"
  }

  /// An error with several FcmError details.
  private func error(_ code: Int, _ status: String, codes: [String]) -> String {
    let details = codes.map {
      #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError",\#($0)}"#
    }
    return #"{"error":{"code":\#(code),"message":"m","status":"\#(status)","details":["#
      + details.joined(separator: ",") + "]}}"
  }

  private func classify(
    _ status: Int, _ body: String, retryAfterSeconds: Int? = nil
  ) throws -> Classification {
    try TestProvider.fcm().classify(status, body, retryAfterSeconds: retryAfterSeconds)
  }
}
