import HTTP2
import Testing

@testable import Worker

@Suite struct SendingProgressTests {
  private static let secondNs: UInt64 = 1_000_000_000

  @Test(
    "a network that nothing connects to for a second is out of touch, until a connection is ready")
  func losesTouch() {
    var progress = SendingProgress()
    progress.noteLoss(nowNs: 7)
    progress.noteLoss(nowNs: 6 + Self.secondNs)
    #expect(!progress.isOutOfTouch)
    progress.noteLoss(nowNs: 7 + Self.secondNs)
    #expect(progress.isOutOfTouch)
    progress.noteTouch()
    #expect(!progress.isOutOfTouch)
    progress.noteLoss(nowNs: 8 + Self.secondNs)
    #expect(!progress.isOutOfTouch)
  }

  @Test(
    "pushes that wait for a connection which hangs are out of touch long before they are put aside")
  func waits() {
    for isConnected in [false, true] {
      var progress = SendingProgress()
      let atOnceMs = progress.putAsideMs(isConnected: isConnected, nowNs: 7)
      #expect(atOnceMs == nil && !progress.isOutOfTouch)
      let delayMs = progress.putAsideMs(isConnected: isConnected, nowNs: 7 + Self.secondNs)
      #expect(delayMs == nil && progress.isOutOfTouch == !isConnected)
    }
  }

  @Test("a loss from before nothing waited is forgotten: a network that was idle is in touch")
  func forgetsOldLosses() {
    var progress = SendingProgress()
    progress.noteLoss(nowNs: 7)
    progress.forgetWait()
    progress.noteLoss(nowNs: 7 + 3_600 * Self.secondNs)
    #expect(!progress.isOutOfTouch)
  }

  @Test("what is put aside because nothing connects leaves it out of touch")
  func staysOutOfTouch() {
    var progress = SendingProgress()
    _ = progress.putAsideMs(isConnected: false, nowNs: 7)
    let delayMs = progress.putAsideMs(isConnected: false, nowNs: 7 + 15 * Self.secondNs)
    #expect(delayMs == WorkerLimits.parkedDelayMs)
    progress.forgetWait()
    #expect(progress.isOutOfTouch && progress.parkedUntilNs > 0)
  }

  @Test(
    "while nothing is answered a few pushes wait to be sent, and the others come back soon"
  )
  func triesAgainSoon() {
    var progress = SendingProgress()
    #expect(!progress.isUnanswered)
    _ = progress.putAsideMs(isConnected: true, nowNs: 7)
    let delayMs = progress.putAsideMs(isConnected: true, nowNs: 7 + 2 * Self.secondNs)
    #expect(delayMs.map { $0 <= BreakerLimits.openMsMax } == true)
    // Nothing keeps those that come from being sent: when the requests time out there is room, and only an answer tells more.
    #expect(progress.parkedUntilNs == 0)
    #expect(progress.isUnanswered)
    #expect(progress.isStuck(nowNs: 7 + 3 * Self.secondNs))
    progress.noteAnswer(RequestAnswer(.answered, elapsedNs: 1), nowNs: 8 + 3 * Self.secondNs)
    #expect(!progress.isUnanswered)
  }
}
