import LocalServices
import Testing

@Suite("Counters")
struct CountersTests {
  @Test("what the JSON says is read as it was counted")
  func roundTrip() {
    var counters = SimulatorCounters()
    counters.connectionsOpened = 3
    counters.accepted = 41
    counters.violations = 1
    counters.logFailures = 2
    counters.countRequest(openStreams: 7)
    for status in [200, 200, 410, 503, 410] { counters.countAnswer(status: status) }
    #expect(SimulatorCounters(json: counters.json) == counters)
    #expect(counters.answers == [200: 2, 410: 2, 503: 1])
  }

  @Test("anything else is not taken for counters", arguments: ["", "{}", "listening on x", "[1]"])
  func others(text: String) {
    #expect(SimulatorCounters(json: text) == nil)
  }
}
