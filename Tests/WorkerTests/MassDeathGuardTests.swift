import Testing

@testable import Worker

@Suite struct MassDeathGuardTests {
  private static let minuteNs = MassDeathGuard.windowNs

  /// Answers of a window of which the first ones are refusals; how many of those may be uninstalled.
  private func allowed(
    _ breaker: inout MassDeathGuard, refusals: Int, of answers: Int, atNs: UInt64
  ) -> Int {
    (0..<answers).count { number in
      breaker.noteAnswer(nowNs: atNs)
      guard number >= answers - refusals else { return false }
      breaker.noteRefusal()
      return !breaker.isTripped
    }
  }

  @Test("few refusals among many answers are uninstalled")
  func allowsFew() {
    var breaker = MassDeathGuard()
    #expect(allowed(&breaker, refusals: 100, of: 10_000, atNs: Self.minuteNs) == 100)
    #expect(!breaker.isTripped)
  }

  @Test("a share above 5 % stops uninstalling, from the 50th refusal at the latest")
  func trips() {
    var breaker = MassDeathGuard()
    let count = allowed(&breaker, refusals: 1_000, of: 1_000, atNs: Self.minuteNs)
    #expect(count < 50)
    #expect(breaker.isTripped)
  }

  @Test("a window that is still bad keeps it stopped, one that is good lets it go on")
  func recovers() {
    var breaker = MassDeathGuard()
    _ = allowed(&breaker, refusals: 500, of: 500, atNs: Self.minuteNs)
    #expect(allowed(&breaker, refusals: 500, of: 500, atNs: 2 * Self.minuteNs) == 0)
    _ = allowed(&breaker, refusals: 0, of: 1_000, atNs: 3 * Self.minuteNs)
    #expect(allowed(&breaker, refusals: 2, of: 1_000, atNs: 4 * Self.minuteNs) == 2)
  }
}
