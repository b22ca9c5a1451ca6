internal import Reactor

/// Gives an agent its turns for as long as it is needed; loop-bound.
final class AgentLoop {
  private let agent: any Agent
  private let signal: LoopSignal
  private let firstAfterMs: UInt64
  private let isNeeded: () -> Bool

  /// - Parameters:
  ///   - loop: the agent's.
  ///   - signal: ends a wait between two turns; nil for one of its own.
  ///   - firstAfterMs: how long until the first turn; 0 for at once.
  ///   - isNeeded: asked before each turn.
  init(
    _ agent: any Agent, on loop: EventLoop, signal: LoopSignal? = nil, firstAfterMs: UInt64 = 0,
    while isNeeded: @escaping () -> Bool
  ) {
    self.agent = agent
    self.signal = signal ?? LoopSignal(loop: loop)
    self.firstAfterMs = firstAfterMs
    self.isNeeded = isNeeded
  }

  /// Returns once the agent is not needed any more.
  func run() async {
    var waitMs = firstAfterMs
    while true {
      if waitMs > 0 { await signal.wait(upToMs: waitMs) }
      guard isNeeded() else { break }
      waitMs = await agent.turn()
    }
    await agent.finish()
  }

  /// Has the agent take its next turn now, or ends the loop when it is not needed any more.
  func wake() { signal.raise() }
}
