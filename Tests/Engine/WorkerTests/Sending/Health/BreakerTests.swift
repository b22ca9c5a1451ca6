import LocalServices
import Testing

@testable import Worker

@Suite struct BreakerTests {
  private static let msNs: UInt64 = 1_000_000
  private static let startNs: UInt64 = 1_000 * BreakerTests.msNs

  /// A breaker that trouble alone has opened, at the start.
  private func opened(retryAfterMs: UInt64? = nil) -> HeldBreaker {
    let breaker = HeldBreaker()
    var consequence = Breaker.Consequence.counted
    for _ in 0..<BreakerLimits.firstTroublesMin {
      consequence = breaker.noteTrouble(
        nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: retryAfterMs)
    }
    #expect(consequence == .opened)
    #expect(breaker.state == .open)
    return breaker
  }

  private func openMs(_ breaker: HeldBreaker, since nowNs: UInt64) -> UInt64 {
    (breaker.openUntilNs - nowNs) / Self.msNs
  }

  @Test(
    "it opens when trouble meets what was sent after all that is good, and again what was sent after that"
  )
  func opens() {
    let breaker = HeldBreaker()
    for _ in 0..<10_000 { _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0) }
    func troubles(_ count: Int, sentMs: UInt64, atMs: UInt64) -> [Breaker.Consequence] {
      (0..<count).map { _ in
        breaker.noteTrouble(
          nowNs: Self.startNs + atMs * Self.msNs, elapsedNs: (atMs - sentMs) * Self.msNs,
          retryAfterMs: nil)
      }
    }
    // As many as may be in flight, all sent together.
    #expect(!troubles(BreakerLimits.surplusMin - 2, sentMs: 1, atMs: 20).contains(.opened))
    #expect(breaker.allowance(nowNs: Self.startNs) == .max)
    #expect(troubles(1, sentMs: 21, atMs: 40) == [.opened])
    #expect(breaker.allowance(nowNs: Self.startNs) == 0)
  }

  @Test(
    "it opens when requests wait in vain, though none was sent since trouble began"
  )
  func opensInSilence() {
    let breaker = HeldBreaker()
    _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0)
    let lateNs = Self.startNs + 10_000 * Self.msNs
    for number in 1...BreakerLimits.firstTroublesMin {
      let consequence = breaker.noteTrouble(
        nowNs: lateNs, elapsedNs: 9_999 * Self.msNs, retryAfterMs: nil)
      #expect(consequence == (number == BreakerLimits.firstTroublesMin ? .opened : .counted))
    }
  }

  @Test("it opens when hardly anything is good for longer than what is in flight takes")
  func opensAmidFewGoods() {
    let breaker = HeldBreaker()
    _ = breaker.requestsMax(of: 1_000)
    var answers = 0
    while breaker.state == .closed, answers < 100_000 {
      answers += 1
      let nowNs = Self.startNs + UInt64(answers) * Self.msNs / 20
      if answers % 50 == 0 {
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 20 * Self.msNs)
      } else {
        _ = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 20 * Self.msNs, retryAfterMs: nil)
      }
    }
    #expect((1_000...10_000).contains(answers))
  }

  @Test(
    "of requests that leave together those that are refused may be answered first, or last",
    arguments: [30, 60, 80], [true, false])
  func survivesBursts(percent: Int, troublesFirst: Bool) {
    let breaker = HeldBreaker()
    let burst = 1_000
    _ = breaker.requestsMax(of: burst)
    for round in 0..<100 as Range<UInt64> {
      let nowNs = Self.startNs + (round + 1) * 20 * Self.msNs
      let troubles = burst * percent / 100
      for number in 0..<burst {
        if troublesFirst ? number < troubles : number >= burst - troubles {
          _ = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 20 * Self.msNs, retryAfterMs: 2_000)
        } else {
          _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 20 * Self.msNs)
        }
      }
      #expect(breaker.state == .closed, "round \(round)")
    }
  }

  @Test("while nothing has been good it takes less to open it")
  func opensEarly() {
    let breaker = HeldBreaker()
    for number in 1...BreakerLimits.firstTroublesMin {
      let consequence = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: nil)
      #expect(consequence == (number == BreakerLimits.firstTroublesMin ? .opened : .counted))
    }
  }

  @Test(
    "trouble at random never opens it while some get through, whatever Retry-After comes with it",
    arguments: [(5, 1), (10, 2), (30, 3), (60, 4), (60, 5), (70, 6)] as [(Int, UInt64)])
  func staysClosed(percent: Int, seed: UInt64) {
    let breaker = HeldBreaker()
    var dice = SeededDice(seed: seed)
    for number in 0..<400_000 {
      let nowNs = Self.startNs + UInt64(number) * Self.msNs / 20
      if dice.below(100) < percent {
        _ = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: 2_000)
      } else {
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
      }
      guard breaker.state == .closed else {
        Issue.record("it opened after \(number) answers")
        return
      }
    }
  }

  @Test(
    "a push that meets with trouble at random is not given up, and one that always does is",
    arguments: [(2, 0), (10, 0), (30, 0), (60, 0), (80, 0), (20, 10), (40, 20), (50, 30)])
  func attempts(percent: Int, declinesPercent: Int) {
    let breaker = HeldBreaker()
    var dice = SeededDice(seed: 7)
    var (counted, troubles) = (0, 0)
    for number in 0..<100_000 {
      let nowNs = Self.startNs + UInt64(number) * Self.msNs / 20
      let roll = dice.below(100)
      if roll < percent {
        troubles += 1
        let consequence = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil)
        counted += consequence == .counted ? 1 : 0
      } else {
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
        // Of these some ask their push alone to come later.
        if roll < percent + declinesPercent { counted += breaker.noteDecline() ? 1 : 0 }
      }
    }
    // A push is accepted, or comes one attempt closer to its end: how likely is it that the latter happens first?
    let burned = Double(counted) / 100_000
    let accepted = Double(100 - percent - declinesPercent) / 100
    let givenUp = (0..<8).reduce(1.0) { chance, _ in chance * burned / (burned + accepted) }
    #expect(givenUp < 1.0 / 100_000, "\(percent) %: \(givenUp)")
    #expect(counted > 0 && counted * 400 > troubles, "one that is never taken must end")
  }

  @Test("as chance has it, 50 % of trouble leaves it closed, and fewer are in flight")
  func slows() {
    let breaker = HeldBreaker()
    #expect(breaker.requestsMax(of: 1_000) == 1_000)
    var dice = SeededDice(seed: 5)
    for number in 0..<200_000 {
      let nowNs = Self.startNs + UInt64(number) * Self.msNs / 20
      if dice.below(100) < 50 {
        _ = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil)
      } else {
        _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
      }
    }
    // 50 % are good, of the 67 % from which on nothing is slowed down.
    #expect((650...850).contains(breaker.requestsMax(of: 1_000)))
    #expect(breaker.requestsMax(of: 1) == 1)
    // Trouble that is over slows nothing.
    for number in 0..<2_000 {
      let nowNs = Self.startNs + UInt64(200_000 + number) * Self.msNs / 20
      _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
    }
    #expect(breaker.requestsMax(of: 1_000) == 1_000)
  }

  @Test(
    "an outage after many good answers burns no more attempts than is said",
    arguments: [100_000, 100_001, 100_064, 100_127])
  func noticesOutage(good: Int) {
    let breaker = HeldBreaker()
    for _ in 0..<good { _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0) }
    var burned = 0
    for number in 0..<10_000 as Range<UInt64> where breaker.state == .closed {
      let consequence = breaker.noteTrouble(
        nowNs: Self.startNs + number, elapsedNs: 1_000, retryAfterMs: nil)
      burned += consequence == .counted ? 1 : 0
    }
    #expect(breaker.state == .open)
    #expect(burned <= BreakerLimits.attemptsBurnedMax)
  }

  @Test("the window slides: what is older than five seconds neither saves nor damns")
  func slides() {
    let breaker = HeldBreaker()
    for _ in 0..<10_000 { _ = breaker.noteGood(nowNs: Self.startNs, elapsedNs: 0) }
    let laterNs = Self.startNs + 6_000 * Self.msNs
    for number in 1...BreakerLimits.firstTroublesMin {
      let consequence = breaker.noteTrouble(nowNs: laterNs, elapsedNs: 0, retryAfterMs: nil)
      #expect(consequence == (number == BreakerLimits.firstTroublesMin ? .opened : .counted))
    }
    // Trouble that comes seldom is none.
    let slow = HeldBreaker()
    for number in 0..<100 {
      let nowNs = Self.startNs + UInt64(number) * 1_000 * Self.msNs
      #expect(slow.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil) == .counted)
    }
  }

  @Test("open, it sends nothing and burns no attempt; then a few probes go out and close it")
  func probesAndCloses() {
    let breaker = opened()
    #expect((400...500).contains(openMs(breaker, since: Self.startNs)))
    let inFlight = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 9, retryAfterMs: nil)
    #expect(inFlight == .forgiven)
    #expect(breaker.allowance(nowNs: breaker.openUntilNs - 1) == 0)
    let probingNs = breaker.openUntilNs
    #expect(breaker.allowance(nowNs: probingNs) == BreakerLimits.probesMax)
    breaker.noteProbes(BreakerLimits.probesMax, nowNs: probingNs)
    #expect(breaker.allowance(nowNs: probingNs) == 0)
    for number in 1...BreakerLimits.successesMin {
      let hasClosed = breaker.noteGood(nowNs: probingNs + 5, elapsedNs: 5)
      #expect(hasClosed == (number == BreakerLimits.successesMin))
    }
    #expect(breaker.allowance(nowNs: probingNs + 5) == .max)
    // By degrees: as many more are in flight as are answered well.
    #expect(breaker.isSlowing && breaker.requestsMax(of: 1_000) == BreakerLimits.rampFirst)
    for _ in 0..<1_000 { _ = breaker.noteGood(nowNs: probingNs + 5, elapsedNs: 1) }
    #expect(breaker.requestsMax(of: 1_000) == 1_000)
    for _ in 0..<BreakerLimits.rampMax { _ = breaker.noteGood(nowNs: probingNs + 5, elapsedNs: 1) }
    #expect(!breaker.isSlowing)
    // What opened it is forgotten.
    #expect(
      breaker.noteTrouble(nowNs: probingNs + 6, elapsedNs: 1, retryAfterMs: nil) == .counted)
  }

  @Test(
    "three seconds after an outage as many are in flight as before, but for a tenth at most",
    arguments: [1, 2, 3, 50])
  func isSoonBack(openings: Int) {
    let streams = 1_000
    let answerNs = 20 * Self.msNs
    let breaker = opened()
    var nowNs = Self.startNs
    for _ in 1..<openings {
      nowNs = breaker.openUntilNs
      breaker.noteProbes(breaker.allowance(nowNs: nowNs), nowNs: nowNs)
      for _ in 0..<BreakerLimits.probeTroublesMax {
        _ = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil)
      }
    }
    #expect(breaker.state == .open)
    // Of all moments the worst to be well again: a pause has just begun.
    let wellNs = nowNs
    var inFlight = 0
    while inFlight < streams * 9 / 10, nowNs < wellNs + 60_000 * Self.msNs {
      // It is 0 unless it is open.
      let sentNs = max(nowNs, breaker.openUntilNs)
      inFlight = min(breaker.allowance(nowNs: sentNs), breaker.requestsMax(of: streams))
      if breaker.state == .halfOpen { breaker.noteProbes(inFlight, nowNs: sentNs) }
      nowNs = sentNs + answerNs
      for _ in 0..<inFlight { _ = breaker.noteGood(nowNs: nowNs, elapsedNs: answerNs) }
    }
    // What was sent last is answered by now.
    #expect(nowNs - answerNs <= wellNs + 3_000 * Self.msNs)
  }

  @Test("good probes close it though others fail, unless those come in a row")
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
    _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0)
    for _ in 0..<2 {
      _ = breaker.noteTrouble(nowNs: nowNs, elapsedNs: 0, retryAfterMs: nil)
      #expect(breaker.state == .halfOpen)
    }
    for _ in 1..<BreakerLimits.successesMin { _ = breaker.noteGood(nowNs: nowNs, elapsedNs: 0) }
    #expect(breaker.state == .closed)
  }

  @Test("probes that fail open it for twice as long, up to a second or so, and are forgiven")
  func opensLonger() {
    let breaker = opened()
    for ceilingMs in [800, 1_200, 1_200, 1_200] as [UInt64] {
      let nowNs = breaker.openUntilNs
      _ = breaker.allowance(nowNs: nowNs)
      breaker.noteProbes(BreakerLimits.probesMax, nowNs: nowNs)
      for _ in 0..<BreakerLimits.probeTroublesMax {
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
    for _ in 0..<BreakerLimits.successesMin { _ = breaker.noteGood(nowNs: nowNs + 1, elapsedNs: 1) }
    #expect(breaker.state == .closed)
    for _ in 0..<100 {
      #expect(
        breaker.noteTrouble(nowNs: nowNs + 2, elapsedNs: 3, retryAfterMs: nil) == .forgiven)
    }
    #expect(breaker.state == .closed)
  }

  @Test("it stays open for the least Retry-After that those asked for who met with trouble")
  func heedsRetryAfter() {
    let breaker = opened(retryAfterMs: 40_000)
    #expect((40_000...50_000).contains(openMs(breaker, since: Self.startNs)))
    let untilNs = breaker.openUntilNs
    _ = breaker.noteTrouble(nowNs: Self.startNs, elapsedNs: 0, retryAfterMs: 120_000)
    #expect(breaker.openUntilNs == untilNs, "what one push was told is for that push")
    let probingNs = breaker.openUntilNs
    breaker.noteProbes(breaker.allowance(nowNs: probingNs), nowNs: probingNs)
    for askedMs in [86_400_000, 86_400_000, 2_000] as [UInt64] {
      _ = breaker.noteTrouble(nowNs: probingNs, elapsedNs: 0, retryAfterMs: askedMs)
    }
    #expect((2_000...2_500).contains(openMs(breaker, since: probingNs)))
    let ages = opened(retryAfterMs: 86_400_000)
    #expect(openMs(ages, since: Self.startNs) >= BreakerLimits.retryAfterMsMax)
    #expect(openMs(ages, since: Self.startNs) <= BreakerLimits.retryAfterMsMax * 5 / 4)
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
    #expect(!open.closeIfIdle(nowNs: openEndNs + BreakerLimits.idleNs - 1))
    #expect(open.closeIfIdle(nowNs: openEndNs + BreakerLimits.idleNs))
    #expect(open.state == .closed)
    let probing = opened()
    let nowNs = probing.openUntilNs
    _ = probing.allowance(nowNs: nowNs)
    probing.noteProbes(1, nowNs: nowNs)
    // Its answer, or its time-out, is still to come.
    #expect(!probing.closeIfIdle(nowNs: nowNs + BreakerLimits.idleNs - 1))
    _ = probing.noteGood(nowNs: nowNs + 1, elapsedNs: 1)
    #expect(probing.closeIfIdle(nowNs: nowNs + BreakerLimits.idleNs))
  }

  @Test("probes of which nothing is ever heard do not keep it half-open for ever")
  func outlivesLostProbes() {
    let breaker = opened()
    let nowNs = breaker.openUntilNs
    breaker.noteProbes(breaker.allowance(nowNs: nowNs), nowNs: nowNs)
    #expect(breaker.allowance(nowNs: nowNs + BreakerLimits.idleNs) == 0)
    #expect(breaker.closeIfIdle(nowNs: nowNs + BreakerLimits.idleNs))
  }
}
