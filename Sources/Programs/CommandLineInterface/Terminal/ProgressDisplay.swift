internal import ProgramSetup

/// Shows a progress bar on standard error: repainted in place on a terminal, a line now and then elsewhere.
final class ProgressDisplay {
  private let console: Console
  private var bar: ProgressBar
  private let started = ContinuousClock.now
  private var lastShown: ContinuousClock.Instant?
  private var isOnScreen = false

  init(label: String, total: Int?, console: Console = .standard) {
    self.console = console
    bar = ProgressBar(label: label, total: total)
  }

  var elapsedMs: Int64 { Int64((ContinuousClock.now - started) / .milliseconds(1)) }

  /// Shows how much is done, unless that was shown a moment ago.
  func update(done: Int, count: Int? = nil, total: Int? = nil, label: String? = nil) {
    if let total { bar.total = total }
    if let label { bar.label = label }
    let interval =
      console.error.isInteractive
      ? CommandLineLimits.paintIntervalMs : CommandLineLimits.plainIntervalMs
    let now = ContinuousClock.now
    // Where lines stay, the first one comes after an interval: short work needs none.
    let last = lastShown ?? (console.error.isInteractive ? nil : started)
    if let last, now - last < .milliseconds(interval) { return }
    lastShown = now
    show(done: done, count: count)
  }

  /// Takes the bar off a terminal, so that what is written next has the line for itself.
  func clear() {
    guard isOnScreen else { return }
    console.writeError("\r\u{1B}[K")
    isOnScreen = false
  }

  private func show(done: Int, count: Int?) {
    let terminal = console.error
    guard terminal.isInteractive else {
      let line = bar.line(
        done: done, count: count, elapsedMs: elapsedMs, columns: terminal.columns)
      return console.writeError(line + "\n")
    }
    // One column is left free: some terminals wrap as soon as the last one is filled.
    let line = bar.line(
      done: done, count: count, elapsedMs: elapsedMs, columns: terminal.columns - 1,
      isUnicode: terminal.isUnicode)
    console.writeError("\r\(line)\u{1B}[K")
    isOnScreen = true
  }
}
