import Testing

@testable import HTTP2

@Suite struct LearnedRequestsTests {
  private static let secondNs: UInt64 = 1_000_000_000

  private let learned = Held()

  /// An end of a connection that was in use, in seconds.
  private func note(answered: Int, from created: UInt64, to ended: UInt64) -> Bool {
    learned.note(
      answered: answered, createdNs: created * Self.secondNs, usedNs: ended * Self.secondNs,
      nowNs: ended * Self.secondNs)
  }

  private func most(at seconds: UInt64) -> Int {
    learned.requestsMax(nowNs: seconds * Self.secondNs)
  }

  @Test(
    "three ends in use, one after the other, tell the number: the larger of the last two")
  func learns() {
    #expect(!note(answered: 920, from: 1, to: 5))
    #expect(!note(answered: 990, from: 5, to: 9))
    #expect(most(at: 9) == .max)
    #expect(note(answered: 970, from: 9, to: 13))
    #expect(most(at: 13) == 990)
  }

  @Test("connections that end together tell nothing, however many")
  func together() {
    for _ in 0..<10 { #expect(!note(answered: 5_000, from: 1, to: 60)) }
    #expect(most(at: 60) == .max)
    // Those that follow them do.
    #expect(!note(answered: 5_000, from: 60, to: 90))
    #expect(note(answered: 5_000, from: 90, to: 120))
  }

  @Test("connections that end in idleness tell nothing")
  func idle() {
    for turn in UInt64(0)..<10 {
      let created = turn * 30 * Self.secondNs
      let usedNs = created + 10 * Self.secondNs
      #expect(
        !learned.note(
          answered: 200, createdNs: created, usedNs: usedNs, nowNs: usedNs + 20 * Self.secondNs))
    }
    #expect(most(at: 300) == .max)
  }

  @Test("ends that are far apart, in time or in answers, tell nothing")
  func apart() {
    #expect(!note(answered: 1_000, from: 0, to: 10))
    #expect(!note(answered: 1_000, from: 10, to: 20))
    #expect(!note(answered: 1_000, from: 20, to: 80))
    #expect(!note(answered: 1_260, from: 80, to: 90))
    #expect(!note(answered: 1_000, from: 90, to: 100))
    #expect(!note(answered: 1_000, from: 100, to: 110))
    #expect(note(answered: 1_250, from: 110, to: 120))
    #expect(most(at: 120) == 1_250)
  }

  @Test("connections that answered little tell nothing")
  func little() {
    for second in UInt64(0)..<10 {
      #expect(!note(answered: 99, from: second, to: second + 1))
    }
  }

  @Test("what was learned is forgotten after ten minutes")
  func forgets() {
    for second in UInt64(0)..<2 {
      _ = note(answered: 1_000, from: second, to: second + 1)
    }
    #expect(note(answered: 1_000, from: 2, to: 3))
    #expect(most(at: 602) == 1_000)
    #expect(most(at: 603) == .max)
    #expect(!note(answered: 1_000, from: 600, to: 604))
  }
}

/// For `#expect`, which takes no call that changes a value.
private final class Held {
  private var learned = LearnedRequests()

  func note(answered: Int, createdNs: UInt64, usedNs: UInt64, nowNs: UInt64) -> Bool {
    learned.note(answered: answered, createdNs: createdNs, usedNs: usedNs, nowNs: nowNs)
  }

  func requestsMax(nowNs: UInt64) -> Int { learned.requestsMax(nowNs: nowNs) }
}
