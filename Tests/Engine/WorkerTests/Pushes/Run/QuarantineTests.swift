import Testing

@testable import Worker

@Suite struct QuarantineTests {
  @Test(
    "a job is tried apart once several requests of it in a row were malformed, and no other job is")
  func holds() {
    var quarantine = Quarantine()
    let isHeld = (0...Quarantine.complaintsMin).map {
      quarantine.note("sale", .accused, nowNs: UInt64(7 + $0))
    }
    #expect(isHeld == [false, false, true, false])
    #expect(quarantine.holds("sale", isRepeated: false, nowNs: 9))
    #expect(quarantine.sinceNs("sale") == 7)
    #expect(!quarantine.holds("news", isRepeated: true, nowNs: 9))
    quarantine.clear("sale")
    #expect(quarantine.isEmpty)
    #expect(!quarantine.holds("sale", isRepeated: true, nowNs: 9))
  }

  @Test(
    "requests that are malformed now and then, others of their job answered between them, hold nobody"
  )
  func forgivesNowAndThen() {
    var quarantine = Quarantine()
    for _ in 0..<50 {
      let isHeld = [7, 8].map { quarantine.note("sale", .accused, nowNs: $0) }
      #expect(isHeld == [false, false])
      #expect(!quarantine.holds("sale", isRepeated: true, nowNs: 9))
      quarantine.clear("sale")
    }
  }

  @Test("a push that alone is refused apart does not hold the others of its job")
  func blamesThePush() {
    var quarantine = Quarantine()
    let isHeld = quarantine.note("sale", .refusedApart(trial: 9), nowNs: 7)
    #expect(!isHeld)
    #expect(!quarantine.holds("sale", isRepeated: false, nowNs: 9))
  }

  @Test("after a connection was closed, whatever was sent before is tried apart for a minute")
  func holdsRepeated() {
    var quarantine = Quarantine()
    _ = quarantine.note("sale", .accusedWithOthers, nowNs: 5)
    quarantine.clear("sale")
    #expect(!quarantine.isEmpty)
    #expect(quarantine.holds("news", isRepeated: true, nowNs: 5 + Quarantine.lifeNs - 1))
    #expect(!quarantine.holds("news", isRepeated: false, nowNs: 6))
    #expect(!quarantine.holds("news", isRepeated: true, nowNs: 5 + Quarantine.lifeNs))
  }

  @Test("a job is condemned by refusals apart, while the network answers others")
  func condemns() {
    var quarantine = Quarantine()
    _ = quarantine.note("sale", .accused, nowNs: 10)
    for trial in 1..<Quarantine.refusalsMax {
      _ = quarantine.note("sale", .refusedApart(trial: trial), nowNs: 11)
    }
    #expect(!quarantine.isCondemned("sale", answeredNs: 12))
    _ = quarantine.note("sale", .refusedApart(trial: 9), nowNs: 13)
    #expect(quarantine.isCondemned("sale", answeredNs: 12))
    #expect(!quarantine.isCondemned("news", answeredNs: 12))
    // A network that has answered nothing since may be what is broken.
    #expect(!quarantine.isCondemned("sale", answeredNs: 10))
    #expect(!quarantine.isCondemned("sale", answeredNs: nil))
  }

  @Test("a connection that is closed because of a request apart counts as several that are reset")
  func weighsClosings() {
    var quarantine = Quarantine()
    for trial in 0..<2 {
      _ = quarantine.note("sale", .closedApart(trial: trial), nowNs: 1)
    }
    #expect(!quarantine.isCondemned("sale", answeredNs: 2))
    _ = quarantine.note("sale", .closedApart(trial: 9), nowNs: 1)
    #expect(quarantine.isCondemned("sale", answeredNs: 2))
  }

  @Test("refusals in one trial, on a connection on which nothing was good between them, count once")
  func countsTrials() {
    var quarantine = Quarantine()
    for _ in 0..<10 * Quarantine.refusalsMax {
      _ = quarantine.note("sale", .refusedApart(trial: 1), nowNs: 1)
    }
    #expect(!quarantine.isCondemned("sale", answeredNs: 2))
    for trial in 2...Quarantine.refusalsMax {
      _ = quarantine.note("sale", .refusedApart(trial: trial), nowNs: 1)
    }
    #expect(quarantine.isCondemned("sale", answeredNs: 2))
  }

  @Test("only refusals without an answer between them count")
  func countsInARow() {
    var quarantine = Quarantine()
    for trial in 1..<Quarantine.refusalsMax {
      _ = quarantine.note("sale", .refusedApart(trial: trial), nowNs: 1)
    }
    quarantine.clear("sale")
    _ = quarantine.note("sale", .refusedApart(trial: 9), nowNs: 2)
    #expect(!quarantine.isCondemned("sale", answeredNs: 3))
  }

  @Test("a job leaves quarantine a minute after the last complaint, not after the first")
  func forgets() {
    var quarantine = Quarantine()
    _ = quarantine.note("sale", .accusedWithOthers, nowNs: 0)
    _ = quarantine.note("sale", .accused, nowNs: 20)
    quarantine.forget(nowNs: Quarantine.lifeNs)
    #expect(quarantine.holds("sale", isRepeated: false, nowNs: Quarantine.lifeNs))
    quarantine.forget(nowNs: 20 + Quarantine.lifeNs)
    #expect(quarantine.isEmpty)
  }

  @Test("a job too many takes the place of the one that was accused first")
  func isBounded() {
    var quarantine = Quarantine()
    for job in 0...Quarantine.jobsMax {
      _ = quarantine.note("\(job)", .accusedWithOthers, nowNs: 1)
    }
    #expect(quarantine.jobs == Quarantine.jobsMax)
    #expect(!quarantine.holds("0", isRepeated: false, nowNs: 1))
    #expect(quarantine.holds("1", isRepeated: false, nowNs: 1))
    #expect(quarantine.holds("\(Quarantine.jobsMax)", isRepeated: false, nowNs: 1))
  }
}
