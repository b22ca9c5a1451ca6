import LocalServices
import Model
import Testing

@testable import Simulator

@Suite("The simulated FCM and its token endpoint")
struct FCMTests {
  private static let email = "pushpool@demo-shop.iam.gserviceaccount.com"
  private static let grantType = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

  private let key = SigningKey(.rsa)
  private var fixture: NetworksFixture

  init() throws {
    let account: JSONObject = [
      "client_email": .string(Self.email), "project_id": .string("demo-shop"),
      "private_key": .string(String(decoding: key.privatePEM, as: UTF8.self)),
    ]
    fixture = NetworksFixture()
    fixture.networks = PushNetworks(
      oauth: OAuthEndpoint(
        accounts: [try ServiceAccount(json: JSONValue.object(account).bytes(), name: "account")]))
    fixture.headers = []
  }

  private func assertion(
    issuer: String = Self.email, lifetime: Int64 = 3_600, key: SigningKey? = nil,
    scope: String = "https://www.googleapis.com/auth/firebase.messaging"
  ) -> String {
    (key ?? self.key).token(
      header: "{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
      claims: """
        {"iss":"\(issuer)","scope":"\(scope)","aud":"https://oauth2.googleapis.com/token",\
        "iat":\(NetworksFixture.now),"exp":\(NetworksFixture.now + lifetime)}
        """)
  }

  private func exchange(_ fixture: inout NetworksFixture, _ assertion: String) throws -> JSONObject
  {
    fixture.path = "/token"
    fixture.body = "grant_type=\(Self.grantType)&assertion=\(assertion)"
    guard case .answer(let answer) = fixture.decide().reaction else { return [:] }
    return try #require(try JSONParser().parse(answer.body).objectValue)
  }

  private func authorised() throws -> NetworksFixture {
    var copy = fixture
    let token = try #require(try exchange(&copy, assertion())["access_token"]?.stringValue)
    copy.setHeader("authorization", "Bearer \(token)")
    copy.path = "/v1/projects/demo-shop/messages:send"
    copy.body = "{\"message\":{\"token\":\"fcm-token:1\",\"data\":{\"a\":\"b\"}}}"
    return copy
  }

  private func error(_ fixture: inout NetworksFixture, at now: Int64 = NetworksFixture.now) throws
    -> (status: Int, code: String?, types: [String])
  {
    guard case .answer(let answer) = fixture.decide(at: now).reaction else { return (0, nil, []) }
    let error = try JSONParser().parse(answer.body).objectValue?["error"]?.objectValue
    let details = error?["details"]?.arrayValue?.compactMap(\.objectValue) ?? []
    return (
      answer.status, details.compactMap { $0["errorCode"]?.stringValue }.first,
      details.compactMap { $0["@type"]?.stringValue?.split(separator: ".").last.map(String.init) }
    )
  }

  @Test("a project that sends more a second than it may is refused what is more, and no other is")
  func limitsProjects() {
    var quota = FCMQuota()
    func isOver(_ project: String, atMs: UInt64) -> Bool {
      quota.isOver(project, 8, nowNs: atMs * 1_000_000)
    }
    // A quarter of a second's at once, and no more.
    #expect([isOver("shop", atMs: 0), isOver("shop", atMs: 0)] == [false, false])
    #expect([isOver("shop", atMs: 0), isOver("other", atMs: 0)] == [true, false])
    #expect([isOver("shop", atMs: 100), isOver("shop", atMs: 130)] == [true, false])
    let passed = (1_000..<11_000).count { !isOver("shop", atMs: $0) }
    #expect((80...82).contains(passed), "what is there at once, and a second's eight ten times")
  }

  @Test("beyond the script's messages a second FCM says QUOTA_EXCEEDED")
  func refusesMore() throws {
    var fixture = try authorised()
    var script = SimulatorScript()
    script.fcmRequestsPerSecond = 1
    fixture.networks.install(script)
    let first = fixture.decide()
    #expect(first.acceptance != nil)
    let refused = try error(&fixture)
    #expect(refused.status == 429 && refused.code == "QUOTA_EXCEEDED")
  }

  @Test("a signed assertion is exchanged for a bearer token that FCM accepts for one hour")
  func exchanges() throws {
    var fixture = try authorised()
    let decision = fixture.decide()
    #expect(decision.acceptance?.network == .fcm)
    guard case .answer(let answer) = decision.reaction else {
      Issue.record("no answer")
      return
    }
    #expect(answer.status == 200)
    #expect(
      String(decoding: answer.body, as: UTF8.self)
        == "{\"name\":\"projects/demo-shop/messages/0:1\"}")
    #expect(try error(&fixture, at: NetworksFixture.now + 3_600).status == 401)
  }

  @Test("a forged, stale, long-lived or unknown assertion gets no token")
  func refusesAssertions() throws {
    var fixture = self.fixture
    let cases = [
      (assertion(key: SigningKey(.rsa)), "invalid_grant"),
      (assertion(issuer: "nobody@example.com"), "invalid_grant"),
      (assertion(lifetime: 7_200), "invalid_grant"), (assertion(lifetime: -1), "invalid_grant"),
      (assertion(scope: "https://www.googleapis.com/auth/drive"), "invalid_scope"),
      ("", "invalid_request"),
    ]
    for (assertion, code) in cases {
      #expect(try exchange(&fixture, assertion)["error"]?.stringValue == code)
    }
  }

  @Test("a push without a token of this project is refused")
  func checksBearer() throws {
    var fixture = try authorised()
    let good = fixture.headers
    fixture.setHeader("authorization", "Bearer guess")
    #expect(try error(&fixture) == (401, nil, []))
    fixture.setHeader("authorization", nil)
    #expect(try error(&fixture).status == 401)
    fixture.headers = good
    fixture.path = "/v1/projects/other/messages:send"
    #expect(try error(&fixture).status == 403)
  }

  @Test("a fault of the payload carries BadRequest, a fault of the token only FcmError")
  func wordsFaults() throws {
    var fixture = try authorised()
    let big = String(repeating: "x", count: 4_096)
    for body in [
      "", "{}", "{\"message\":{}}", "{\"message\":{\"token\":\"fcm-token:1\",\"data\":{\"a\":1}}}",
      "{\"message\":{\"token\":\"fcm-token:1\",\"colour\":1}}",
      "{\"message\":{\"token\":\"fcm-token:1\",\"data\":{\"a\":\"\(big)\"}}}",
    ] {
      fixture.body = body
      let found = try error(&fixture)
      #expect(found.status == 400 && found.code == "INVALID_ARGUMENT")
      #expect(found.types == ["FcmError", "BadRequest"], "\(body.prefix(60))")
    }
    fixture.body = "{\"message\":{\"token\":\"no/token\"}}"
    #expect(try error(&fixture) == (400, "INVALID_ARGUMENT", ["FcmError"]))
  }

  @Test("a message names one receiver, by what it is")
  func namesReceiver() throws {
    let fid = "cAbCdEfGhIjKlMnOpQrS-_"
    var fixture = try authorised()
    fixture.body = #"{"message":{"fid":"\#(fid)"}}"#
    #expect(try error(&fixture).status == 200)
    for members in [
      #""token":"\#(fid)""#, #""fid":"fcm-token:1""#, #""fid":"\#(fid)","token":"fcm-token:1""#,
      #""fid":"\#(fid)","fid":"\#(fid)""#, #""fid":1"#,
    ] {
      fixture.body = "{\"message\":{\(members)}}"
      #expect(try error(&fixture).status == 400, "\(members)")
    }
  }

  @Test("notification and data count as they reach the device, with their framing")
  func countsPayload() throws {
    var fixture = try authorised()
    for (count, status) in [(4_050, 200), (4_051, 400)] {
      // A device gets one quote where JSON has an escape.
      let value = #"\""# + String(repeating: "x", count: count - 1)
      for data in ["\"data\":{\"k\":\"\(value)\"}", "\"android\":{\"data\":{\"k\":\"\(value)\"}}"] {
        fixture.body = "{\"message\":{\"token\":\"fcm-token:1\",\(data)}}"
        #expect(try error(&fixture).status == status)
      }
    }
    let rest = 4_096 - 39 - 6 - "gcm.notification.body".utf8.count
    for (count, status) in [(rest, 200), (rest + 1, 400)] {
      let body = String(repeating: "x", count: count)
      fixture.body =
        "{\"message\":{\"token\":\"fcm-token:1\",\"notification\":{\"body\":\"\(body)\"}}}"
      #expect(try error(&fixture).status == status)
    }
  }

  @Test("a scripted error has google.rpc's form, and a body of its own when it says so")
  func scripts() throws {
    var fixture = try authorised()
    var script = SimulatorScript()
    script.all = ScriptRule(status: 404, reason: "UNREGISTERED")
    fixture.networks.install(script)
    #expect(try error(&fixture) == (404, "UNREGISTERED", ["FcmError"]))
    script.all = ScriptRule(status: 404)
    script.all?.body = "<html>"
    fixture.networks.install(script)
    #expect(fixture.send() == "404 <html>")
    script.all = ScriptRule(status: 400, reason: "INVALID_ARGUMENT")
    script.all?.fieldViolation = "message.data"
    fixture.networks.install(script)
    #expect(try error(&fixture) == (400, "INVALID_ARGUMENT", ["FcmError", "BadRequest"]))
  }

  @Test("a dry run is answered and not counted as accepted")
  func runsDry() throws {
    var fixture = try authorised()
    fixture.body = "{\"validate_only\":true,\"message\":{\"token\":\"fcm-token:1\"}}"
    #expect(fixture.decide().acceptance == nil)
    #expect(fixture.counters.dryRuns == 1)
  }

  @Test("the token endpoint fails as scripted")
  func failsTokenEndpoint() throws {
    var fixture = self.fixture
    var script = SimulatorScript()
    script.oauth = ScriptRule(status: 503, times: 1)
    fixture.networks.install(script)
    fixture.path = "/token"
    fixture.body = "grant_type=\(Self.grantType)&assertion=\(assertion())"
    #expect(fixture.send() == "503")
    #expect(try exchange(&fixture, assertion())["token_type"]?.stringValue == "Bearer")
  }
}
