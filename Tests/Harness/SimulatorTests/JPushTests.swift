import LocalServices
import Model
import Testing

@testable import Simulator

@Suite("The simulated JPush")
struct JPushTests {
  private static let appKey = "7d431e42dfa6a6d693ac2d04"
  private static let id = "140fe1da9e22a23f92f"
  /// The pair of the documentation's example.
  private static let authorization =
    "Basic N2Q0MzFlNDJkZmE2YTZkNjkzYWMyZDA0OjVlOTg3YWM2ZDJlMDRkOTVhOWQ4ZjBkMQ=="
  private static let uuid = "711261d4-5f17-4d2f-a855-5e5a8909b26e"

  private var fixture = NetworksFixture()

  init() {
    install(SimulatorScript())
    fixture.headers = []
    fixture.setHeader("authorization", Self.authorization)
    fixture.path = "/v3/push"
    fixture.body = body()
  }

  private mutating func install(_ script: SimulatorScript) {
    fixture.networks = PushNetworks(
      script: script, secrets: [Self.appKey: "5e987ac6d2e04d95a9d8f0d1"])
  }

  private func body(
    _ ids: [String] = [Self.id], _ more: String = #""notification":{"alert":"Hi"}"#
  ) -> String {
    let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"audience":{"registration_id":[\#(list)]},"platform":"all",\#(more)}"#
  }

  /// What a request is answered: the status, and the code of an error.
  private mutating func send(_ body: String? = nil, at now: Int64 = NetworksFixture.now) -> String {
    if let body { fixture.body = body }
    guard let answer = answer(at: now) else { return "no answer" }
    let error = try? JSONParser().parse(answer.body).objectValue?["error"]?.objectValue
    guard let code = error?["code"]?.int64Value else { return "\(answer.status)" }
    return "\(answer.status) \(code)"
  }

  private mutating func answer(at now: Int64 = NetworksFixture.now) -> Answer? {
    guard case .answer(let answer) = fixture.decide(at: now).reaction else { return nil }
    return answer
  }

  @Test("a request with the right secret is accepted, and the answer tells of the quota")
  mutating func accepts() throws {
    let decision = fixture.decide()
    #expect(decision.acceptance?.network == .jpush)
    guard case .answer(let answer) = decision.reaction else {
      Issue.record("no answer")
      return
    }
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self) == #"{"sendno":"0","msg_id":"1"}"#)
    #expect(
      answer.rateStanding?.headers.map(\.name) == [
        "x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset",
      ])
    #expect(fixture.connection.isAuthorised)
  }

  @Test("a wrong secret, another app key, and none at all are refused by their codes")
  mutating func checksAuthorization() {
    for (value, expected) in [
      ("Basic N2Q0MzFlNDJkZmE2YTZkNjkzYWMyZDA0Onh4", "401 1004"), (nil, "401 1004"),
      ("Basic eDp5", "400 1008"), ("Basic =", "401 1004"), ("Basic eHk=", "401 1004"),
      ("Bearer x", "401 1004"), (Self.authorization, "200"),
    ] {
      fixture.setHeader("authorization", value)
      #expect(send() == expected, "\(value ?? "none")")
    }
    fixture.method = "GET"
    #expect(send() == "405 1001")
    fixture.path = "/v3/schedules"
    #expect(send().hasPrefix("404"))
  }

  @Test("a request to 1,000 registration IDs is so many pushes; more, none or a bad one is refused")
  mutating func countsTargets() {
    let ids = (0..<1_001).map { "id\($0)" }
    fixture.body = body(Array(ids.dropLast()))
    #expect(fixture.decide().acceptance?.otherTokens.count == 999)
    #expect(send(body(ids)) == "400 1003")
    #expect(send(body([])) == "400 1003")
    #expect(send(body(["a-b"])) == "400 1003")
    #expect(send(body([""])) == "400 1003")
    let answer = answer()
    #expect(
      answer.map { String(decoding: $0.body, as: UTF8.self) }?.contains("is invalid!") == true)
  }

  @Test(
    "what JPush does not take is refused by the code that it has for it",
    arguments: [
      (#""notification":{"alert":"Hi","android":{"sounds":"x"}}"#, "400 1009"),
      (#""notification":{"alert":"Hi","ios":{"content_available":true}}"#, "400 1009"),
      (#""notification":{"alert":"Hi"},"colour":1"#, "400 1009"),
      (#""notification":{"alert":"Hi"},"options":{"ttl":1}"#, "400 1009"),
      (#""notification":{"alert":"Hi"},"options":{"time_to_live":864001}"#, "400 1003"),
      (#""notification":{"alert":"Hi"},"options":{"time_to_live":864000}"#, "200"),
      (#""notification":{"alert":"Hi"},"options":{"apns_production":1}"#, "400 1003"),
      (#""notification":{"alert":"Hi","android":{"extras":[]}}"#, "400 1003"),
      (#""notification":"Hi""#, "400 1003"),
      (#""notification":{"android":{"title":"x"}}"#, "400 1002"),
      (#""message":{"title":"x"}"#, "400 1002"),
      (#""message":{"msg_content":"x"}"#, "200"),
      (#""options":{}"#, "400 1002"),
      (#""notification":{"alert":"Hi"},"cid":"x""#, "400 1003"),
      (#""notification":{"alert":"Hi"}"#, "200"),
    ])
  func checksContent(more: String, expected: String) {
    var copy = self
    #expect(copy.send(copy.body([Self.id], more)) == expected)
  }

  @Test("platform and audience are required, and the body must be JSON")
  mutating func checksEnvelope() {
    #expect(send(#"{"platform":"all","notification":{"alert":"x"}}"#) == "400 1002")
    #expect(
      send(#"{"audience":{"registration_id":["a1"]},"notification":{"alert":"x"}}"#) == "400 1002")
    #expect(send(body() + "}") == "400 1003")
    #expect(
      send(#"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#) == "400 1003")
    #expect(send(body().replacing(#""all""#, with: #"["ios","android"]"#)) == "200")
    #expect(send(body().replacing(#""all""#, with: #"["ipod"]"#)) == "400 1003")
  }

  @Test("2,000 bytes for iOS and 4,000 for Android pass, and one more does not")
  mutating func checksSizes() {
    let ios = String(repeating: "x", count: 2_000 - #""ios":{"alert":""}"#.utf8.count)
    #expect(send(body([Self.id], #""notification":{"ios":{"alert":"\#(ios)"}}"#)) == "200")
    #expect(send(body([Self.id], #""notification":{"ios":{"alert":"\#(ios)x"}}"#)) == "400 1005")
    let frame = #"{"alert":""}"#.utf8.count + #"{"msg_content":"m"}"#.utf8.count
    let android = String(repeating: "x", count: 4_000 - frame)
    func more(_ text: String) -> String {
      #""notification":{"android":{"alert":"\#(text)"}},"message":{"msg_content":"m"}"#
    }
    #expect(send(body([Self.id], more(android))) == "200")
    #expect(send(body([Self.id], more(android + "x"))) == "400 1005")
  }

  @Test("a request with a cid that was accepted gets the same answer and is not delivered again")
  mutating func remembersCIDs() throws {
    let cid = #""cid":"\#(Self.appKey)-\#(Self.uuid)","notification":{"alert":"Hi"}"#
    fixture.body = body([Self.id], cid)
    let first = fixture.decide()
    #expect(first.acceptance != nil)
    let second = fixture.decide()
    #expect(second.acceptance == nil)
    guard case .answer(let one) = first.reaction, case .answer(let other) = second.reaction else {
      Issue.record("no answer")
      return
    }
    #expect(one.body == other.body)
    #expect(fixture.counters.repeatedRequests == 1 && fixture.counters.repeatedPushes == 1)
    fixture.body = body()
    #expect(fixture.decide().acceptance != nil)
    #expect(send(body([Self.id], cid.replacing(Self.appKey, with: "other"))) == "400 1003")
  }

  @Test("a validation is answered and not delivered")
  mutating func validates() {
    fixture.path = "/v3/push/validate"
    let decision = fixture.decide()
    #expect(decision.acceptance == nil)
    #expect(fixture.counters.dryRuns == 1)
    #expect(send() == "200")
    #expect(send(body([Self.id], #""options":{}"#)) == "400 1002")
  }

  @Test("calls over the minute's quota are refused until the next one")
  mutating func limitsCalls() throws {
    var script = SimulatorScript()
    script.jpushCallsPerMinute = 2
    install(script)
    let now = NetworksFixture.now
    #expect(send(at: now) == "200")
    #expect(send(at: now + 10) == "200")
    let refused = try #require(answer(at: now + 20))
    #expect(refused.status == 429)
    #expect(refused.rateStanding?.remaining == 0)
    #expect(refused.rateStanding?.resetSeconds == 40)
    #expect(send(at: now + 60) == "200")
  }

  @Test("a rule with 1011 takes its targets away; a request whose targets are all gone is refused")
  mutating func scriptsGoneTargets() {
    var script = SimulatorScript()
    script.rules = [ScriptRule(tokenPrefix: "gone", network: .jpush, status: 400, reason: "1011")]
    install(script)
    fixture.body = body(["gone1", "a1", "gone2", "a2"])
    #expect(fixture.decide().acceptance?.otherTokens.count == 1)
    #expect(send(body(["gone1", "gone2"])) == "400 1011")
  }

  @Test("other rules answer in JPush's form, and name the registration ID as it does")
  mutating func scriptsErrors() throws {
    var script = SimulatorScript()
    var busy = ScriptRule(tokenPrefix: "busy", status: 503, reason: "1030")
    busy.retryAfterSeconds = 7
    script.rules = [
      ScriptRule(tokenPrefix: "bad", status: 400, reason: "1003"), busy,
      ScriptRule(tokenPrefix: "odd", status: 500, reason: "1011"),
    ]
    install(script)
    #expect(send(body(["a1", "bad1"])) == "400 1003")
    let text = try #require(answer().map { String(decoding: $0.body, as: UTF8.self) })
    #expect(text.contains("The registration_id bad1 is invalid!"))
    #expect(send(body(["busy1"])) == "503 1030")
    #expect(answer()?.rateStanding?.resetSeconds == 7)
    #expect(answer()?.retryAfterSeconds == nil)
    #expect(send(body(["odd1"])) == "500 1011")
  }

  @Test("which APNs was asked for is on record")
  mutating func tellsEnvironment() {
    for (value, name) in [("true", "production"), ("false", "development")] {
      fixture.body = body(
        [Self.id], #""notification":{"alert":"Hi"},"options":{"apns_production":\#(value)}"#)
      #expect(fixture.decide().acceptance?.topic.text == name)
    }
    fixture.body = body()
    #expect(fixture.decide().acceptance?.topic.text == "production")
  }

  @Test(
    "a request's collapse ID names it on record, if it can stand there", arguments: ["j1", "j 1"])
  mutating func tellsCollapseID(id: String) {
    fixture.body = body(
      [Self.id], #""notification":{"alert":"Hi"},"options":{"apns_collapse_id":"\#(id)"}"#)
    #expect(fixture.decide().acceptance?.topic.text == (id == "j1" ? "j1" : "production"))
  }
}
