import Testing

@testable import Worker

/// Sentences about sentinels, which come up every few seconds.
@Suite struct RemarksTests {
  private static let minuteNs: UInt64 = 60_000_000_000

  @Test("two sentences that alternate are each logged once an hour")
  func alternating() {
    var remarks = Remarks()
    var logged: [UInt64: [String]] = [:]
    for minute in 0...UInt64(120) {
      for sentence in ["one", "other"]
      where remarks.take(sentence, nowNs: (1 + minute) * Self.minuteNs) {
        logged[minute, default: []].append(sentence)
      }
    }
    #expect(logged == [0: ["one"], 1: ["other"], 60: ["one"], 61: ["other"], 120: ["one"]])
  }

  /// Which of some sentences are logged, each given so many minutes after the first.
  private func logged(_ sentences: [(String, minutes: Double)]) -> [Bool] {
    var remarks = Remarks()
    return sentences.map { sentence, minutes in
      remarks.take(sentence, nowNs: UInt64((1 + minutes) * Double(Self.minuteNs)))
    }
  }

  @Test("another sentence is logged, but not within a minute")
  func others() {
    #expect(logged([("a", 0), ("b", 0.99), ("b", 1)]) == [true, false, true])
  }

  @Test("of many sentences the last few are known again")
  func bounded() {
    let many = (0...WorkerLimits.remarksMax).map { ("\($0)", minutes: Double($0)) }
    let later = Double(WorkerLimits.remarksMax + 1)
    #expect(
      logged(many + [("1", later), ("0", later)]) == many.map { _ in true } + [false, true])
  }
}
