import LocalServices
import Testing

@testable import Worker

@Suite struct BreakerTests {
  private static let msNs: UInt64 = 1_000_000
  private static let startNs: UInt64 = 1_000 * BreakerTests.msNs

  /// A breaker that trouble alone has opened, at the start.
  private func opened(retryAfterMs: UInt64? = nil) -> Held {
    let breaker = Held()
    var consequence = Breaker.Consequence.counted
    for _ in 0..<Breaker.firstAnswersMin {
      consequence = breaker.noteTrouble(
        nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: retryAfterMs)
    }
    #expect(consequence == .opened)
    #expect(breaker.state == .open)
    return breaker
  }

  private func openMs(_ breaker: Held, since nowNs: UInt64) -> UInt64 {
    (breaker.openUntilNs - nowNs) / Self.msNs
  }

  @Test("it opens when most of the window's answers are trouble, and not before there are enough")
  func opens() {
    let breaker = Held()
    var number = 0
    while breaker.state == .closed, number < 1_000 {
      #expect(breaker.allowance(nowNs: Self.startNs) == .max)
      if number % 5 < 2 {
        #expect(!breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0))
      } else {
        let consequence = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: nil)
        #expect(consequence == (breaker.state == .closed ? .counted : .opened))
      }
      number += 1
    }
    #expect((Breaker.answersMin..<Breaker.answersMin + 5).contains(number), "\(number) answers")
    #expect(breaker.allowance(nowNs: Self.startNs) == 0)
  }

  @Test("of few answers nearly all must be trouble")
  func opensEarly() {
    let breaker = Held()
    _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0)
    for number in 2...Breaker.firstAnswersMin {
      let consequence = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: nil)
      #expect(consequence == (number == Breaker.firstAnswersMin ? .opened : .counted))
    }
  }

  @Test("as chance has it, 30 % of trouble leaves it closed, and as much less is in flight")
  func slows() {
    let breaker = Held()
    #expect(breaker.requestsMax(of: 1_000) == 1_000)
    var dice = SeededDice(seed: 5)
    for number in 0..<200_000 {
      let nowNs = Self.startNs + UInt64(number) * Self.msNs / 20
      if dice.below(100) < 30 {
        #expect(breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil) == .counted)
      } else {
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
      }
    }
    #expect((670...730).contains(breaker.requestsMax(of: 1_000)))
    #expect(breaker.requestsMax(of: 1) == 1)
    // Trouble that is over slows nothing.
    for number in 0..<100_000 {
      let nowNs = Self.startNs + UInt64(200_000 + number) * Self.msNs / 20
      _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
    }
    let laterNs = Self.startNs + 30_000 * Self.msNs
    _ = breaker.noteGood(nowNs: laterNs, elapsedNs: 0)
    #expect(breaker.requestsMax(of: 1_000) == 1_000)
  }

  @Test(
    "an outage after many good answers burns no more attempts than is said",
    arguments: [100_000, 100_001, 100_064, 100_127])
  func noticesOutage(good: Int) {
    let breaker = Held()
    for _ in 0..<good { _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0) }
    var burned = 0
    while breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: nil) == .counted {
      burned += 1
      if burned > 1_000 { break }
    }
    #expect(burned <= Breaker.attemptsBurnedMax)
  }

  @Test("a third of trouble leaves it closed for ever")
  func staysClosed() {
    let breaker = Held()
    for number in 0..<30_000 {
      let nowNs = Self.startNs + UInt64(number) * Self.msNs
      if number % 3 == 2 {
        #expect(breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil) == .counted)
      } else {
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
      }
    }
    #expect(breaker.state == .closed)
  }

  @Test("the window slides: what is older than five seconds neither saves nor damns")
  func slides() {
    let breaker = Held()
    for _ in 0..<10_000 { _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0) }
    let laterNs = Self.startNs + 6_000 * Self.msNs
    for number in 1...Breaker.firstAnswersMin {
      let consequence = breaker.noteTrouble(nowNs: laterNs, elapsedNs: 0, retryAfterMs: nil)
      #expect(consequence == (number == Breaker.firstAnswersMin ? .opened : .counted))
    }
    // Trouble that comes seldom is none.
    let slow = Held()
    for number in 0..<100 {
      let nowNs = Self.startNs + UInt64(number) * 1_000 * Self.msNs
      #expect(slow.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil) == .counted)
    }
  }

  @Test("open, it sends nothing and burns no attempt; then a few probes go out and close it")
  func probesAndCloses() {
    let breaker = opened()
    #expect((1_000...1_250).contains(openMs(breaker, since: Self.startNs)))
    let inFlight = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 9, retryAfterMs: nil)
    #expect(inFlight == .forgiven)
    #expect(breaker.allowance(nowNs: breaker.openUntilNs - 1) == 0)
    let probingNs = breaker.openUntilNs
    #expect(breaker.allowance(nowNs: probingNs) == Breaker.probesMax)
    breaker.noteProbes(Breaker.probesMax, nowNs: probingNs)
    #expect(breaker.allowance(nowNs: probingNs) == 0)
    for number in 1...Breaker.successesMin {
      let hasClosed = breaker.noteGood(nowNs: probingNs + 5, elapsedNs: 5)
      #expect(hasClosed == (number == Breaker.successesMin))
    }
    #expect(breaker.allowance(nowNs: probingNs + 5) == .max)
    // What opened it is forgotten.
    #expect(
      breaker.noteTrouble(nowNs: probingNs + 6, elapsedNs: 1, retryAfterMs: nil) == .counted)
  }

  @Test("most of five probes decide: good ones close it though others fail")
  func closesAmidTrouble() {
    let breaker = opened()
    let nowNs = breaker.openUntilNs
    breaker.noteProbes(breaker.allowance(nowNs: nowNs), nowNs: nowNs)
    // Two of five: not named after the limit, which a change of it must fail.
    for _ in 0..<2 {
      let consequence = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil)
      #expect(consequence == .forgiven)
      #expect(breaker.state == .halfOpen)
    }
    #expect(breaker.allowance(nowNs: nowNs) == 2, "others may follow")
    for _ in 0..<Breaker.successesMin { _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0) }
    #expect(breaker.state == .closed)
  }

  @Test("probes that fail open it for twice as long, up to half a minute, and are forgiven")
  func opensLonger() {
    let breaker = opened()
    for ceilingMs in [2_000, 4_000, 8_000, 16_000, 30_000, 30_000] as [UInt64] {
      let nowNs = breaker.openUntilNs
      _ = breaker.allowance(nowNs: nowNs)
      breaker.noteProbes(Breaker.probesMax, nowNs: nowNs)
      for _ in 0..<Breaker.probeTroublesMax {
        let consequence = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil)
        #expect(consequence == .forgiven)
      }
      #expect((ceilingMs...ceilingMs * 5 / 4).contains(openMs(breaker, since: nowNs)))
    }
  }

  @Test("answers to what was sent before it opened neither close nor open it, and are forgiven")
  func ignoresEarlierRequests() {
    let breaker = opened()
    let nowNs = breaker.openUntilNs
    _ = breaker.allowance(nowNs: nowNs)
    for _ in 0..<100 {
      #expect(!breaker.noteGood(nowNs: nowNs + 1, elapsedNs: 2))
      #expect(
        breaker.noteTrouble(nowNs: nowNs + 1, elapsedNs: 2, retryAfterMs: nil) == .forgiven)
    }
    #expect(breaker.state == .halfOpen)
    for _ in 0..<Breaker.successesMin { _ = breaker.noteGood(nowNs: nowNs + 1, elapsedNs: 1) }
    #expect(breaker.state == .closed)
    for _ in 0..<100 {
      #expect(
        breaker.noteTrouble(nowNs: nowNs + 2, elapsedNs: 3, retryAfterMs: nil) == .forgiven)
    }
    #expect(breaker.state == .closed)
  }

  @Test("it stays open for a Retry-After, of a later answer too")
  func heedsRetryAfter() {
    let breaker = opened(retryAfterMs: 40_000)
    #expect((40_000...50_000).contains(openMs(breaker, since: Self.startNs)))
    _ = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: 120_000)
    #expect(openMs(breaker, since: Self.startNs) == 120_000)
    _ = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: 86_400_000)
    #expect(openMs(breaker, since: Self.startNs) == Breaker.retryAfterMsMax)
  }

  @Test("a probe that was not processed makes room for another")
  func returnsProbe() {
    let breaker = opened()
    let nowNs = breaker.openUntilNs
    breaker.noteProbes(breaker.allowance(nowNs: nowNs), nowNs: nowNs)
    #expect(breaker.allowance(nowNs: nowNs) == 0)
    breaker.noteNothing(nowNs: nowNs, elapsedNs: 0)
    #expect(breaker.allowance(nowNs: nowNs) == 1)
  }

  @Test("without anything to probe with it is closed after a minute, open or half-open")
  func closesWhenIdle() {
    let open = opened()
    let openEndNs = open.openUntilNs
    #expect(!open.closeIfIdle(nowNs: openEndNs + Breaker.idleNs - 1))
    #expect(open.closeIfIdle(nowNs: openEndNs + Breaker.idleNs))
    #expect(open.state == .closed)
    let probing = opened()
    let nowNs = probing.openUntilNs
    _ = probing.allowance(nowNs: nowNs)
    probing.noteProbes(1, nowNs: nowNs)
    // Its answer, or its time-out, is still to come.
    #expect(!probing.closeIfIdle(nowNs: nowNs + Breaker.idleNs - 1))
    _ = probing.noteGood(nowNs: nowNs + 1, elapsedNs: 1)
    #expect(probing.closeIfIdle(nowNs: nowNs + Breaker.idleNs))
  }

  @Test("probes of which nothing is ever heard do not keep it half-open for ever")
  func outlivesLostProbes() {
    let breaker = opened()
    let nowNs = breaker.openUntilNs
    breaker.noteProbes(breaker.allowance(nowNs: nowNs), nowNs: nowNs)
    #expect(breaker.allowance(nowNs: nowNs + Breaker.idleNs) == 0)
    #expect(breaker.closeIfIdle(nowNs: nowNs + Breaker.idleNs))
  }
}

/// A breaker that can change within an expectation.
private final class Held {
  private var breaker = Breaker()

  var state: Breaker.State { breaker.state }
  var openUntilNs: UInt64 { breaker.openUntilNs }

  func noteGood(nowNs: UInt64, elapsedNs: UInt64) -> Bool {
    breaker.noteGood(nowNs: nowNs, elapsedNs: elapsedNs)
  }

  func noteTrouble(
    nowNs: UInt64, elapsedNs: UInt64, retryAfterMs: UInt64?
  ) -> Breaker.Consequence {
    breaker.noteTrouble(nowNs: nowNs, elapsedNs: elapsedNs, retryAfterMs: retryAfterMs)
  }

  func noteNothing(nowNs: UInt64, elapsedNs: UInt64) {
    breaker.noteNothing(nowNs: nowNs, elapsedNs: elapsedNs)
  }

  func allowance(nowNs: UInt64) -> Int { breaker.allowance(nowNs: nowNs) }

  func requestsMax(of streamsMax: Int) -> Int { breaker.requestsMax(of: streamsMax) }

  func noteProbes(_ count: Int, nowNs: UInt64) { breaker.noteProbes(count, nowNs: nowNs) }

  func closeIfIdle(nowNs: UInt64) -> Bool { breaker.closeIfIdle(nowNs: nowNs) }
}
