import Testing

@testable import Worker

@Suite struct ChunkPaceTests {
  private var pace = ChunkPace()

  @Test("a user with more devices than were drawn for holds the next one up until they are paid")
  mutating func paysDebts() {
    pace.grant(2, retryMs: 0, nowNs: 0)
    for _ in 0..<2 { pace.spend(2) }
    #expect(!pace.allows)
    pace.grant(2, retryMs: 0, nowNs: 0)
    #expect(!pace.allows && pace.allowance == 0)
    pace.grant(1, retryMs: 0, nowNs: 0)
    #expect(pace.allows)
  }

  @Test("more is asked for when that is worth it, and never a moment earlier")
  mutating func waits() {
    pace.grant(0, retryMs: 20, nowNs: 5)
    #expect(pace.waitMs(nowNs: 5) == 21)
    #expect(pace.waitMs(nowNs: 20_000_004) == 1)
    #expect(pace.waitMs(nowNs: 20_000_005) == 0)
  }
}
