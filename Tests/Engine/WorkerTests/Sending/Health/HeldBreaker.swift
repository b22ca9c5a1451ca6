@testable import Worker

/// A breaker that can change within an expectation.
final class HeldBreaker {
  private var breaker = Breaker()

  var state: Breaker.State { breaker.state }
  var isSlowing: Bool { breaker.isSlowing }
  var openUntilNs: UInt64 { breaker.openUntilNs }

  func noteGood(nowNs: UInt64, elapsedNs: UInt64) -> Bool {
    breaker.noteGood(nowNs: nowNs, elapsedNs: elapsedNs)
  }

  func noteTrouble(
    nowNs: UInt64, elapsedNs: UInt64, retryAfterMs: UInt64?, attempt: Int = 0
  ) -> Breaker.Consequence {
    breaker.noteTrouble(
      nowNs: nowNs, elapsedNs: elapsedNs, retryAfterMs: retryAfterMs, attempt: attempt)
  }

  func noteDecline() -> Bool { breaker.noteDecline() }
  func noteNothing(nowNs: UInt64, elapsedNs: UInt64) {
    breaker.noteNothing(nowNs: nowNs, elapsedNs: elapsedNs)
  }

  func allowance(nowNs: UInt64) -> Int { breaker.allowance(nowNs: nowNs) }
  func requestsMax(of streamsMax: Int) -> Int { breaker.requestsMax(of: streamsMax) }
  func noteProbes(_ count: Int, nowNs: UInt64) { breaker.noteProbes(count, nowNs: nowNs) }

  func closeIfIdle(nowNs: UInt64) -> Bool { breaker.closeIfIdle(nowNs: nowNs) }
}
