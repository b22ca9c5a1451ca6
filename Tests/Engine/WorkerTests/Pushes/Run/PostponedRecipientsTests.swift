import Testing

@testable import Worker

@Suite struct PostponedRecipientsTests {
  private static let msNs: UInt64 = 1_000_000

  @Test(
    "a recipient is kept for half its delay, and for a second at most",
    arguments: [(1_000, 500), (1_500, 750), (2_000, 1_000), (60_000, 1_000)])
  func keeps(delayMs: UInt64, keptMs: UInt64) {
    var postponed = PostponedRecipients()
    let nowNs = 7_000 * Self.msNs
    // Others that come later keep it no longer.
    let areKept = [
      postponed.add(3, delayMs: delayMs, nowNs: nowNs),
      postponed.add(5, delayMs: 60_000, nowNs: nowNs + Self.msNs),
    ]
    #expect(areKept == [true, true])
    #expect(!postponed.isOver(nowNs: nowNs + keptMs * Self.msNs - 1))
    #expect(postponed.isOver(nowNs: nowNs + keptMs * Self.msNs))
    let recipients = postponed.takeAll()
    #expect(recipients == [3, 5])
    #expect(postponed.count == 0)
    #expect(!postponed.isOver(nowNs: nowNs + 100_000 * Self.msNs))
  }

  @Test("a delay too short to wait in is told at once", arguments: [0, 250])
  func tellsShort(delayMs: UInt64) {
    var postponed = PostponedRecipients()
    let isKept = postponed.add(3, delayMs: delayMs, nowNs: 0)
    #expect(!isKept && postponed.count == 0)
  }
}
