import Model
import Testing

@testable import Simulator

@Suite("Scripts")
struct ScriptTests {
  private func parse(_ text: String) throws -> SimulatorScript {
    try SimulatorScript(json: Array(text.utf8))
  }

  @Test("every field of a script is read")
  func readsEveryField() throws {
    let script = try parse(
      """
      {"rules": [{"token_prefix": "dead", "network": "apns", "status": 410,
                  "reason": "Unregistered", "timestamp_ms": 5, "times": 3, "probability": 0.5,
                  "burst": 20},
                 {"action": "reset", "reset_code": 7, "delay_ms": 9},
                 {"status": 502, "body": "<html>", "content_type": "text/html"}],
       "all": {"status": 503, "retry_after_seconds": 30}, "oauth": {"status": 500},
       "delay_ms": 4, "stall_after": 1, "stop_reading_after": 2, "goaway_after": 3,
       "goaway_processes_last": false, "goaway_reason": "Shutdown",
       "max_concurrent_streams": [{"after": 5, "value": 1}],
       "reset_after": {"n": 6, "code": 8, "times": 2}, "early_answer": true,
       "drop_connection_after": 7, "close_without_answer_after": 8,
       "drop_connection_after_bad_requests": 9, "provider_token_interval_seconds": 0,
       "bearer_lifetime_seconds": 60, "revoke_bearer_tokens": true,
       "development_token_prefix": "dd", "seed": 42,
       "fcm_requests_per_second": 5000}
      """)
    var expected = SimulatorScript()
    var dead = ScriptRule(
      tokenPrefix: "dead", network: .apns, status: 410, reason: "Unregistered", timestampMs: 5,
      times: 3)
    dead.probability = 0.5
    dead.burst = 20
    var reset = ScriptRule(action: .reset)
    reset.resetCode = 7
    reset.delayMs = 9
    var page = ScriptRule(status: 502)
    page.body = "<html>"
    page.contentType = "text/html"
    expected.rules = [dead, reset, page]
    expected.all = ScriptRule(status: 503, retryAfterSeconds: 30)
    expected.oauth = ScriptRule(status: 500)
    expected.delayMs = 4
    expected.stallAfter = 1
    expected.stopReadingAfter = 2
    expected.goAwayAfter = 3
    expected.goAwayProcessesLast = false
    expected.goAwayReason = "Shutdown"
    expected.maxConcurrentStreams = [.init(after: 5, value: 1)]
    expected.resets = .init(after: 6, code: 8, times: 2)
    expected.answersEarly = true
    expected.dropConnectionAfter = 7
    expected.closeWithoutAnswerAfter = 8
    expected.dropConnectionAfterBadRequests = 9
    expected.providerTokenIntervalSeconds = 0
    expected.bearerLifetimeSeconds = 60
    expected.revokesBearerTokens = true
    expected.developmentTokenPrefix = "dd"
    expected.seed = 42
    expected.fcmRequestsPerSecond = 5_000
    #expect(script == expected)
  }

  @Test(
    "a fault in a script is refused by the field's name",
    arguments: [
      ("{\"delay\": 1}", "/delay: is not a known field; did you mean \"delay_ms\"?"),
      ("{\"rules\": [{\"status\": 99}]}", "/rules/0/status: must be a whole number from 200"),
      ("{\"rules\": [{\"reason\": \"x\"}]}", "/rules/0/reason: belongs to an answer"),
      ("{\"all\": {\"content_type\": \"text/html\"}}", "/all/content_type: belongs to an answer"),
      (
        "{\"all\": {\"status\": 200, \"content_type\": \"a\\nb\"}}",
        "/all/content_type: must be 1 to 1000 printable ASCII characters"
      ),
      ("{\"all\": {\"action\": \"explode\"}}", "/all/action: must be one of: answer, stall"),
      ("{\"all\": {\"probability\": 2}}", "/all/probability: must be a number from 0 to 1"),
      ("{\"all\": {\"burst\": 0}}", "/all/burst: must be a whole number from 1 to 1000000"),
      ("{\"all\": {\"burst\": 2}}", "/all/burst: belongs to a \"probability\" below 1"),
      ("{\"reset_after\": {}}", "/reset_after/n: is missing"),
      ("[]", "must be an object, not an array"),
      ("{", "not valid JSON"),
    ])
  func refusesFaults(text: String, complaint: String) {
    let error = #expect(throws: SimulatorError.self) { try parse(text) }
    #expect(error?.kind == .script)
    #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
  }

  @Test("the first matching rule decides, its times run out, and all is for the rest")
  func matchesInOrder() {
    var script = SimulatorScript()
    script.rules = [
      ScriptRule(
        tokenPrefix: "dead", status: 410, reason: "Unregistered", timestampMs: 1_234, times: 1),
      ScriptRule(tokenPrefix: "de", status: 400, reason: "BadDeviceToken"),
      ScriptRule(network: .fcm, status: 404, reason: "UNREGISTERED"),
    ]
    script.all = ScriptRule(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 7)
    var fixture = NetworksFixture(script: script)
    fixture.path = "/3/device/deadbeef"
    guard case .answer(let gone) = fixture.decide().reaction else {
      Issue.record("no answer")
      return
    }
    #expect(gone.status == 410)
    #expect(
      String(decoding: gone.body, as: UTF8.self)
        == "{\"reason\":\"Unregistered\",\"timestamp\":1234}")
    #expect(fixture.send() == "400 BadDeviceToken")
    fixture.path = "/3/device/00112233"
    guard case .answer(let refused) = fixture.decide().reaction else {
      Issue.record("no answer")
      return
    }
    #expect(refused.retryAfterSeconds == 7)
    #expect(refused.status == 503)
  }

  @Test("a probability decides by the seed, the same way each time")
  func rollsSeededDice() {
    var script = SimulatorScript()
    script.all = ScriptRule(status: 503)
    script.all?.probability = 0.25
    func run(seed: UInt64) -> [Bool] {
      script.seed = seed
      var fixture = NetworksFixture(script: script)
      return (0..<400).map { _ in fixture.decide().acceptance == nil }
    }
    let refusals = run(seed: 7)
    #expect((60...140).contains(refusals.count { $0 }))
    #expect(refusals == run(seed: 7))
    #expect(refusals != run(seed: 8))
  }

  @Test("a burst answers so many in a row, by the seed, and leaves the share as it is")
  func comesInBursts() {
    var script = SimulatorScript()
    script.all = ScriptRule(status: 503)
    script.all?.probability = 0.1
    script.all?.burst = 50
    let token = UnsafeRawBufferPointer(start: nil, count: 0)
    func run(seed: UInt64) -> [Bool] {
      script.seed = seed
      var rules = RuleBook(script)
      return (0..<50_000).map { _ in rules.take(token: token, network: .apns) != nil }
    }
    let refusals = run(seed: 7)
    // Some 100 bursts.
    #expect((3_500...6_500).contains(refusals.count { $0 }))
    // One may follow another at once, and the last may be cut short.
    let lengths = refusals.split(separator: false).map(\.count)
    #expect(lengths.dropLast().allSatisfy { $0.isMultiple(of: 50) })
    #expect(refusals == run(seed: 7))
    #expect(refusals != run(seed: 8))
  }

  @Test("a burst counts the pushes that match, and ends when the rule's times are used up")
  func countsWhatMatches() {
    var script = SimulatorScript()
    var rule = ScriptRule(tokenPrefix: "aa", status: 503, times: 5)
    rule.probability = 0.5
    rule.burst = 4
    script.rules = [rule]
    var fixture = NetworksFixture(script: script)
    var refused: [Int] = []
    for number in 0..<100 {
      fixture.path = "/3/device/aaaaaaaa"
      if fixture.decide().acceptance == nil { refused.append(number) }
      // What does not match comes amid the burst, and is no part of it.
      fixture.path = "/3/device/bbbbbbbb"
      #expect(fixture.decide().acceptance != nil)
    }
    #expect(refused.count == 5)
    #expect(refused.prefix(4).elementsEqual(refused[0]..<refused[0] + 4))
  }

  @Test("a rule without a status and with an action stalls, resets or drops")
  func actsOtherwise() {
    var script = SimulatorScript()
    script.rules = [
      ScriptRule(tokenPrefix: "aa", action: .stall), ScriptRule(tokenPrefix: "bb", action: .drop),
      ScriptRule(tokenPrefix: "cc", action: .reset),
    ]
    var fixture = NetworksFixture(script: script)
    fixture.path = "/3/device/aaaaaaaa"
    if case .stall = fixture.decide().reaction {} else { Issue.record("does not stall") }
    fixture.path = "/3/device/bbbbbbbb"
    if case .drop = fixture.decide().reaction {} else { Issue.record("does not drop") }
    fixture.path = "/3/device/cccccccc"
    if case .reset(2) = fixture.decide().reaction {} else { Issue.record("does not reset") }
  }
}
