import Bench
import Testing

@Suite struct LongCallsTests {
  @Test("a share of the long calls is told by the longest of them")
  func share() {
    let calls = LongCalls(microseconds: [9_000, 1_000] + Array(repeating: 2_000, count: 98))
    #expect(calls.atMostMs(share: 0.99) == 2)
    #expect(calls.atMostMs(share: 1) == 9)
    #expect(calls.atMostMs(share: 0.01) == 1)
    #expect(LongCalls(microseconds: [700]).atMostMs(share: 0.5) == 0.7)
  }

  @Test("without long calls the figure is what is too short to be noted")
  func none() {
    #expect(LongCalls(microseconds: []).atMostMs(share: 0.99) == 0.5)
  }
}
