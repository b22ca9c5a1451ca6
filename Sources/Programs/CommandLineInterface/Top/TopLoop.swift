internal import Glibc
internal import ProgramSetup

/// Looks, paints and waits for keys until somebody has seen enough.
struct TopLoop {
  private(set) var state: TopState
  let intervalMs: Int64
  private let screen = LiveScreen()

  init(state: TopState, intervalMs: Int64) {
    self.state = state
    self.intervalMs = intervalMs
  }

  /// - Parameter look: reads the fleet. That Redis is away is shown, and it is asked again.
  /// - Throws: when Redis refuses for good, or a signal has come. The terminal is as it was before then.
  mutating func run(
    _ look: () async throws(CommandFailure) -> TopLook
  ) async throws(CommandFailure) {
    let screen = screen
    let interrupts = Interrupts.shared
    interrupts.handle {
      // The loop notices the first one. Nobody waits for a second time.
      guard interrupts.hasComeAgain else { return }
      screen.close()
      _exit(interrupts.exitStatus)
    }
    screen.open()
    defer { screen.close() }
    var lookedAt: ContinuousClock.Instant?
    var hasKeys = true
    while true {
      try interrupts.check()
      let now = ContinuousClock.now
      let isDue = lookedAt.map { now - $0 >= .milliseconds(intervalMs) } ?? true
      if isDue, !state.isPaused {
        try await take(look)
        lookedAt = now
      }
      guard paint() else { return }
      // Painted again when the terminal has another size.
      let keys = hasKeys ? LiveScreen.keys(waitingMs: CommandLineLimits.topKeyMs) : []
      if keys == nil { hasKeys = false }
      if !hasKeys { poll(nil, 0, CommandLineLimits.topKeyMs) }
      for key in TopKey.all(in: keys ?? []) {
        if key == .quit { return }
        state.press(key)
      }
    }
  }

  private mutating func take(
    _ look: () async throws(CommandFailure) -> TopLook
  ) async throws(CommandFailure) {
    do throws(CommandFailure) {
      state.take(try await look())
    } catch {
      guard error.status == .unavailable else { throw error }
      state.problem = error.description
    }
  }

  /// - Returns: false when nobody is there to see it.
  private mutating func paint() -> Bool {
    let terminal = Terminal(descriptor: STDOUT_FILENO)
    let page = TopScreen(state, on: terminal, columns: terminal.columns)
    state.limitScroll(to: page.scrollMax(rows: terminal.rows))
    let lines = TopScreen(state, on: terminal, columns: terminal.columns)
      .lines(rows: terminal.rows)
    return screen.paint(lines.map { TextStyle.printable($0, on: terminal) })
  }
}
