package import Reactor

/// Lets a test wait for a condition that loop-bound objects bring about; loop-bound.
package final class Occurrences {
  private let loop: EventLoop
  private let signal: LoopSignal

  /// How long a test waits for a condition in all, whatever happens meanwhile.
  private static let patienceNs: UInt64 = 120_000_000_000

  package init(loop: EventLoop) {
    self.loop = loop
    signal = LoopSignal(loop: loop)
  }

  /// Something happened: the waiting test looks at its condition again.
  package func note() { signal.raise() }

  /// - Parameter withinMs: how long it waits without that anything happens.
  /// - Returns: false when the condition did not come true in time.
  package func until(withinMs: UInt64 = 20_000, _ condition: () -> Bool) async -> Bool {
    let endNs = loop.nowNs + Self.patienceNs
    while !condition() {
      guard loop.nowNs < endNs, await signal.wait(upToMs: withinMs) else { return condition() }
    }
    return true
  }
}
