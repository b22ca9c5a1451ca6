package import Reactor

/// Lets a test wait for a condition that loop-bound objects bring about; loop-bound.
package final class Occurrences {
  private let signal: LoopSignal

  package init(loop: EventLoop) {
    signal = LoopSignal(loop: loop)
  }

  /// Something happened: the waiting test looks at its condition again.
  package func note() { signal.raise() }

  /// - Returns: false when the condition did not come true in time.
  package func until(withinMs: UInt64 = 20_000, _ condition: () -> Bool) async -> Bool {
    while !condition() {
      guard await signal.wait(upToMs: withinMs) else { return condition() }
    }
    return true
  }
}
