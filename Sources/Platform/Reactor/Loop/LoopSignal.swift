/// Lets one task of a loop wait until something happened or time ran out; loop-bound.
///
/// A signal given while nobody waits is kept, so that none is missed between a check and the wait.
package final class LoopSignal {
  private let loop: EventLoop
  private var isRaised = false
  private var waiter: UnsafeContinuation<Bool, Never>?
  private var timer: LoopTimer?

  package init(loop: EventLoop) {
    self.loop = loop
  }

  /// Wakes the waiting task, or the next one that waits.
  package func raise() {
    guard let waiter else {
      isRaised = true
      return
    }
    resume(waiter, raised: true)
  }

  /// - Returns: true when the signal was raised, false when the time ran out.
  @discardableResult
  package func wait(upToMs: UInt64? = nil) async -> Bool {
    if isRaised {
      isRaised = false
      return true
    }
    precondition(waiter == nil, "one task waits for a signal at a time")
    return await withUnsafeContinuation { continuation in
      waiter = continuation
      guard let upToMs else { return }
      let timer =
        self.timer
        ?? LoopTimer(loop: loop) { [weak self] in
          if let self, let waiter { resume(waiter, raised: false) }
        }
      self.timer = timer
      timer.schedule(afterMs: upToMs)
    }
  }

  private func resume(_ continuation: UnsafeContinuation<Bool, Never>, raised: Bool) {
    waiter = nil
    timer?.cancel()
    continuation.resume(returning: raised)
  }
}
