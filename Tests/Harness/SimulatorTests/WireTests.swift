import LocalServices
import Testing

@testable import Simulator

@Suite("The simulator on the wire")
struct WireTests {
  private func script(_ change: (inout SimulatorScript) -> Void) -> SimulatorScript {
    var script = SimulatorScript()
    change(&script)
    return script
  }

  @Test("every answered push is in the accept log, with its token, topic and connection")
  func logsAccepts() async throws {
    let client = try WireClient()
    let endings = try await client.push(500, tokens: ["00112233", "44556677"])
    #expect(endings.allSatisfy { $0 == .answered(200) })
    let lines = try client.log.map { $0.split(separator: " ") }
    #expect(lines.count == 500)
    #expect(lines.allSatisfy { $0.count == 7 && $0[1] == "apns" && $0[4] == "1" })
    #expect(lines.count { $0[2] == "44556677" } == 250)
    #expect(Set(lines.map { $0[5] }).count == 500)
    #expect(Set(lines.map { $0[6] }).count == 1)
    #expect(client.simulator.acceptedPushes.count == 500)
    let counters = client.simulator.counters
    #expect(counters.accepted == 500 && counters.answers == [200: 500])
    #expect(counters.violations == 0)
  }

  @Test("a client that opens more than one stream before it is authorised is refused and counted")
  func limitsNewConnections() async throws {
    let client = try WireClient()
    #expect(try await client.push(50) == Array(repeating: .answered(200), count: 50))
    #expect(client.simulator.counters.violations == 0)
    #expect(client.simulator.counters.openStreamsMax <= 49)
  }

  @Test("a client certificate replaces the provider token and opens all streams at once")
  func takesCertificates() async throws {
    let client = try WireClient(usesCertificate: true)
    let endings = try await client.push(20, startsWithOneStream: false)
    #expect(endings == Array(repeating: .answered(200), count: 20))
    #expect(client.simulator.counters.providerTokenVerifications == 0)
  }

  @Test("rules answer by token, with Retry-After, and can be replaced while it runs")
  func answersByRule() async throws {
    let client = try WireClient(
      script: script {
        $0.rules = [
          ScriptRule(tokenPrefix: "dead", status: 410, reason: "Unregistered", timestampMs: 1)
        ]
        $0.all = ScriptRule(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 9)
      })
    #expect(
      try await client.push(2, tokens: ["deadbeef", "00112233"])
        == [.answered(410), .answered(503, retryAfterSeconds: 9)])
    client.simulator.script = SimulatorScript()
    #expect(try await client.push(1, tokens: ["deadbeef"]) == [.answered(200)])
    #expect(try client.log.count == 1)
  }

  @Test("an answer is delayed at least as long as the script says")
  func delays() async throws {
    let client = try WireClient(script: script { $0.delayMs = 60 })
    let start = ContinuousClock.now
    #expect(try await client.push(3) == Array(repeating: .answered(200), count: 3))
    // Two answers in a row: the first alone, then the rest at once.
    #expect(ContinuousClock.now - start >= .milliseconds(120))
  }

  @Test("after the stall no request is answered, and none is accepted")
  func stalls() async throws {
    let client = try WireClient(script: script { $0.stallAfter = 2 })
    let endings = try await client.push(4, timeoutMs: 1_000)
    #expect(endings == [.answered(200), .answered(200), .unknown, .unknown])
    #expect(client.simulator.counters.stalled == 2)
    #expect(try client.log.count == 2)
  }

  @Test("a socket that is not read any more leaves requests without an answer")
  func stopsReading() async throws {
    let client = try WireClient(script: script { $0.stopReadingAfter = 1 })
    let endings = try await client.push(2, timeoutMs: 1_000)
    #expect(endings == [.answered(200), .unknown])
  }

  @Test("GOAWAY leaves what came after it unprocessed, and the client goes on elsewhere")
  func saysGoAway() async throws {
    let client = try WireClient(script: script { $0.goAwayAfter = 10 })
    let endings = try await client.push(100, streamsMax: 20)
    let accepted = endings.count { $0 == .answered(200) }
    #expect(endings.allSatisfy { $0 == .answered(200) || $0 == .notSent })
    #expect(try client.log.count == accepted)
    #expect(client.simulator.counters.goAways >= 1)
    #expect(client.simulator.counters.connectionsOpened >= 2)
  }

  @Test("GOAWAY may exclude the request that triggered it")
  func saysGoAwayBeforeLast() async throws {
    let client = try WireClient(
      script: script {
        $0.goAwayAfter = 2
        $0.goAwayProcessesLast = false
        $0.goAwayReason = "Shutdown"
      })
    let endings = try await client.push(3, streamsMax: 1)
    #expect(endings.first == .answered(200))
    #expect(endings[1] == .notSent)
    #expect(try client.log.count == endings.count { $0 == .answered(200) })
  }

  @Test("GOAWAY comes to a connection that had more requests before the script came")
  func saysGoAwayLater() async throws {
    let client = try WireClient(script: script { $0.delayMs = 20 })
    async let pushes = client.push(100, streamsMax: 1)
    let deadline = ContinuousClock.now + .seconds(20)
    while client.simulator.counters.accepted < 10, ContinuousClock.now < deadline {
      await Task.yield()
    }
    client.simulator.script = script { $0.goAwayAfter = 8 }
    let endings = try await pushes
    #expect(endings.allSatisfy { $0 == .answered(200) || $0 == .notSent })
    #expect(client.simulator.counters.goAways >= 1)
    #expect(client.simulator.counters.connectionsOpened >= 2)
  }

  @Test("the stream limit shrinks to 1 and grows again, and no push is lost")
  func changesSettings() async throws {
    let client = try WireClient(
      script: script {
        $0.maxConcurrentStreams = [.init(after: 50, value: 1), .init(after: 90, value: 500)]
      })
    let endings = try await client.push(300)
    #expect(endings.allSatisfy { $0 == .answered(200) || $0 == .notSent })
    #expect(try client.log.count == endings.count { $0 == .answered(200) })
    #expect(client.simulator.counters.violations == 0)
  }

  @Test("REFUSED_STREAM is not sent, another reset leaves the outcome unknown", arguments: [7, 2])
  func resets(code: UInt32) async throws {
    let client = try WireClient(
      script: script { $0.resets = .init(after: 3, code: code, times: 2) })
    let endings = try await client.push(8)
    #expect(endings.count { $0 == (code == 7 ? .notSent : .unknown) } == 2)
    #expect(endings.count { $0 == .answered(200) } == 6)
    #expect(client.simulator.counters.resets == 2)
  }

  @Test("an early answer stands, although RST_STREAM(NO_ERROR) follows before the body was sent")
  func answersEarly() async throws {
    let client = try WireClient(
      script: script {
        $0.answersEarly = true
        $0.all = ScriptRule(status: 413, reason: "PayloadTooLarge")
      })
    // Larger than the flow-control window, so that the body cannot have been sent.
    let endings = try await client.push(1, bodyBytes: 200_000)
    #expect(endings == [.answered(413)])
    #expect(client.simulator.counters.earlyAnswers == 1)
  }

  @Test("a dropped connection leaves its requests unknown; the cut one is not accepted")
  func drops() async throws {
    let client = try WireClient(script: script { $0.dropConnectionAfter = 3 })
    let endings = try await client.push(3, streamsMax: 1)
    #expect(endings == [.answered(200), .answered(200), .unknown])
    #expect(try client.log.count == 2)
    #expect(client.simulator.counters.drops == 1)
  }

  @Test("a connection closed without an answer has accepted the push all the same")
  func closesWithoutAnswer() async throws {
    let client = try WireClient(script: script { $0.closeWithoutAnswerAfter = 2 })
    let endings = try await client.push(2, streamsMax: 1)
    #expect(endings == [.answered(200), .unknown])
    #expect(try client.log.count == 2)
  }

  @Test("too many bad requests get the connection dropped, after they were answered")
  func dropsBadClients() async throws {
    let client = try WireClient(script: script { $0.dropConnectionAfterBadRequests = 3 })
    let endings = try await client.push(4, tokens: ["nothex00"], streamsMax: 1)
    // The fourth is cut with the connection, or goes to the next one.
    #expect(endings.prefix(3).allSatisfy { $0 == .answered(400) })
    #expect(client.simulator.counters.drops == 1)
  }

  @Test("it can be stopped twice, before it was started, and started again")
  func restarts() async throws {
    let client = try WireClient()
    client.simulator.stop()
    client.simulator.stop()
    #expect(client.simulator.port == 0)
    try client.simulator.start()
    #expect(try await client.push(1) == [.answered(200)])
    Simulator(options: client.simulator.options).stop()
  }

  @Test("a missing certificate and a busy port are told apart")
  func explainsFailures() throws {
    let client = try WireClient()
    var options = client.simulator.options
    options.port = client.simulator.port
    let busy = #expect(throws: SimulatorError.self) { try Simulator(options: options).start() }
    #expect(busy?.kind == .unavailable)
    options.certificateFile = "/nowhere.pem"
    let missing = #expect(throws: SimulatorError.self) { try Simulator(options: options).start() }
    #expect(missing?.kind == .configuration)
    #expect(missing?.description.contains("/nowhere.pem") == true)
  }
}
