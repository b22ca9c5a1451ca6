internal import Reactor

/// Raises a loop's signal from any thread. Unchecked, since the signal itself is touched on its loop only.
struct RemoteSignal: @unchecked Sendable {
  private let loop: EventLoop
  private let signal: LoopSignal

  /// - Parameter signal: of this loop.
  init(_ signal: LoopSignal, of loop: EventLoop) {
    self.signal = signal
    self.loop = loop
  }

  func raise() { loop.execute { signal.raise() } }
}
