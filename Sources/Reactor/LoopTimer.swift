/// A one-shot timer of one loop; loop-bound and reusable.
package final class LoopTimer {
  private let loop: EventLoop
  private let action: () -> Void
  /// When it fires, in the loop's monotonic nanoseconds; nil while it is not armed.
  private(set) var deadlineNs: UInt64?

  package init(loop: EventLoop, action: @escaping () -> Void) {
    self.loop = loop
    self.action = action
  }

  package var isArmed: Bool { deadlineNs != nil }

  /// Arms the timer, or moves it when it is armed already.
  package func schedule(afterMs: UInt64) {
    let deadline = loop.nowNs &+ afterMs &* 1_000_000
    deadlineNs = deadline
    loop.timers.insert(self, deadlineNs: deadline)
  }

  package func cancel() {
    deadlineNs = nil
  }

  func fire() {
    deadlineNs = nil
    action()
  }
}
