/// A one-shot timer of one loop; loop-bound and reusable.
///
/// While it is armed the loop keeps it and its action: an action that refers to the timer's owner
/// does so weakly, or the owner cancels before it goes away.
package final class LoopTimer {
  private let loop: EventLoop
  private let action: () -> Void
  // The heap's notes on an armed timer; `place` is negative while it is not armed.
  var deadlineNs: UInt64 = 0
  var arming: UInt64 = 0
  var place = -1

  package init(loop: EventLoop, action: @escaping () -> Void) {
    self.loop = loop
    self.action = action
  }

  package var isArmed: Bool { place >= 0 }

  /// Arms the timer, or moves it when it is armed already. With 0 it fires before this turn's output
  /// is flushed, or in the next turn when timers are being fired now.
  package func schedule(afterMs: UInt64) {
    let (delayNs, isTooLong) = afterMs.multipliedReportingOverflow(by: 1_000_000)
    let (deadlineNs, isTooLate) = loop.nowNs.addingReportingOverflow(delayNs)
    loop.timers.arm(self, deadlineNs: isTooLong || isTooLate ? .max : deadlineNs)
  }

  package func cancel() { loop.timers.disarm(self) }

  func fire() { action() }
}
