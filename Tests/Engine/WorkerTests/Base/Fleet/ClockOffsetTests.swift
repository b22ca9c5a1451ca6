import Testing

@testable import Worker

@Suite("The difference from Redis's clock")
struct ClockOffsetTests {
  @Test("it is known from the first answer, and better from faster ones")
  func learns() {
    var offset = ClockOffset()
    #expect(!offset.isKnown)
    offset.learn(serverMs: 1_000_500, sentMs: 0, receivedMs: 1_000)
    #expect(offset.isKnown && offset.ms == 1_000_000)
    offset.learn(serverMs: 1_002_400, sentMs: 2_000, receivedMs: 2_004)
    #expect((1_000_396...1_000_400).contains(offset.ms))
  }

  @Test("slow answers do not move it")
  func slow() {
    var offset = ClockOffset()
    offset.learn(serverMs: 1_000_001, sentMs: 0, receivedMs: 2)
    for late in Int64(1)...50 {
      // The server answers at once, and the answer is on its way for seconds.
      offset.learn(
        serverMs: 1_000_000 + late * 10_000, sentMs: late * 10_000,
        receivedMs: late * 10_000 + 5_000)
      #expect(offset.ms == 1_000_000)
    }
  }

  @Test("a server whose clock was set is followed at once", arguments: [-3_600_000, 3_600_000])
  func steps(byMs: Int64) {
    var offset = ClockOffset()
    offset.learn(serverMs: 10_000_001, sentMs: 0, receivedMs: 2)
    offset.learn(serverMs: 10_001_001 + byMs, sentMs: 1_000, receivedMs: 1_002)
    #expect(abs(offset.ms - 10_000_000 - byMs) <= 1)
  }

  @Test(
    "what is no time of day changes nothing", arguments: [.min, -1, 0, 253_402_300_800_000, .max])
  func noInstant(serverMs: Int64) {
    var offset = ClockOffset()
    offset.learn(serverMs: serverMs, sentMs: 0, receivedMs: 2)
    #expect(!offset.isKnown)
    offset.learn(serverMs: 1_000_001, sentMs: 0, receivedMs: 2)
    offset.learn(serverMs: serverMs, sentMs: 3, receivedMs: 4)
    #expect(offset.ms == 1_000_000)
  }
}
