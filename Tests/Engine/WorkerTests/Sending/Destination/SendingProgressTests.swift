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
      let isStillAtOnce = progress.isStill(isConnected: isConnected, nowNs: 7)
      #expect(!isStillAtOnce && !progress.isOutOfTouch)
      let isStill = progress.isStill(isConnected: isConnected, nowNs: 7 + Self.secondNs)
      #expect(!isStill && progress.isOutOfTouch == !isConnected)
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
    _ = progress.isStill(isConnected: false, nowNs: 7)
    let isStill = progress.isStill(isConnected: false, nowNs: 7 + 15 * Self.secondNs)
    #expect(isStill)
    progress.forgetWait()
    #expect(progress.isOutOfTouch && progress.parkedUntilNs > 0)
  }
}
